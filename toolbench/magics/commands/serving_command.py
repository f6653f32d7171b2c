"""`%mcp serve`: tools of this notebook, served to real agents."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolbench.core.tool import ToolDefinition
from toolbench.magics.catalog import AnyTool, Catalog
from toolbench.magics.parsers import UsageError, listed_names

if TYPE_CHECKING:
    from toolbench.serving.served_tools import Served


class ServingCommand:
    """The sub-command `%mcp serve`. A notebook has one server of its tools; a new server replaces it."""

    def __init__(self, catalog: Catalog) -> None:
        """Prepare to serve the tools in *catalog*."""
        self._catalog = catalog
        self._served: Served | None = None

    def __call__(self, options: Any) -> "Served | None":
        """Start or stop serving, as the options say; return the new server, or None after a stop.

        Raises:
            UsageError: If there is nothing to serve, or to stop.
            ToolNotFoundError: If a named tool does not exist.
        """
        # People write commas too
        names = listed_names(",".join(options.names))
        if options.stop:
            self._stop(names)
            return None
        for name in names:
            self._catalog.find(name)
        if not names and not self._own_tools():
            msg = (
                "This notebook defines no tool yet. Define one with @tool, or name tools to "
                "serve: %mcp serve NAME ..."
            )
            raise UsageError(msg)
        from toolbench.serving.served_tools import serve  # noqa: PLC0415 - FastMCP takes seconds

        if self._served is not None:
            self._served.close()
        self._served = serve(names or self._own_tools)
        return self._served

    def _stop(self, names: list[str]) -> None:
        if names:
            msg = f"--stop stops the whole server: leave out {' '.join(names)}."
            raise UsageError(msg)
        if self._served is None or self._served.is_closed:
            msg = "Nothing is served by %mcp serve."
            raise UsageError(msg)
        self._served.close()
        print(f"{self._served.name!r} is not served any more.")  # noqa: T201 - in the cell that asked

    def _own_tools(self) -> list[AnyTool]:
        """Return the tools that this notebook defines and can run, without runtime tools."""
        entries = self._catalog.entries(source="notebook")
        tools: Iterable[AnyTool] = (e.make() for e in entries if e.source == "notebook")
        return [tool for tool in tools if tool.executor is not None and _is_own(tool)]


def _is_own(tool: AnyTool) -> bool:
    kind = type(tool)
    return kind is ToolDefinition or not kind.__module__.startswith("toolbench.")
