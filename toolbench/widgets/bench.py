"""Several tools in one place: search, pick, run."""

from collections.abc import Iterable, Sequence
from typing import Any

import ipywidgets as w

from toolbench.core.registry import resolve_tool
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.display.page import notice
from toolbench.display.render import bundle
from toolbench.errors import ToolbenchError
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.parts import STYLE, Parts

SHOWN = 200  # names the list holds at most

AnyTool = ToolDefinition[Any, Any]


def bench(*tools: AnyTool | Tool | str | Iterable[AnyTool]) -> w.Widget:
    """Return the panel of a tool, or a searchable bench of several.

    Args:
        *tools: Tools, specs or registered names of tools, and anything that holds tools,
            as an MCPClient does.

    Raises:
        ToolbenchError: If there is no tool among them.
        ToolNotFoundError: If a name is not registered.
    """
    found = [tool for given in tools for tool in _tools(given)]
    if not found:
        msg = "A bench needs at least one tool: bench(my_tool), bench(client)."
        raise ToolbenchError(msg)
    return ToolPanel(found[0]) if len(found) == 1 else Bench(found)


def _tools(given: Any) -> list[AnyTool]:
    if isinstance(given, ToolDefinition):
        return [given]
    if isinstance(given, Tool | str):
        return resolve_tool(given)
    if isinstance(given, Iterable):
        return [tool for item in given for tool in _tools(item)]
    msg = f"{given!r} is no tool: pass a ToolDefinition, a name, or what holds some."
    raise ToolbenchError(msg)


class Bench(w.VBox):
    """A list of tools to search, and the panel of the one that is open."""

    def __init__(self, tools: Sequence[AnyTool]) -> None:
        """Offer *tools*; none is open at first."""
        self._parts = parts = Parts()
        self.tools = list(tools)
        self._panels: dict[int, ToolPanel] = {}
        self._search = parts.make(
            w.Text,
            "toolbench-field",
            description="Search",
            placeholder=f"{len(self.tools):,} tools: part of a name or description",
        )
        self._list = parts.make(
            w.Select,
            "toolbench-field",
            "toolbench-list",
            description="Tools",
            rows=min(12, len(self.tools)),
        )
        self._count = parts.html()
        self._open = parts.column()
        super().__init__(
            [parts.html(STYLE), self._search, self._list, self._count, self._open],
            _dom_classes=("toolbench-box",),
        )
        self._filter()
        self._search.observe(lambda _: self._filter(), "value")
        self._list.observe(lambda _: self._pick(), "index")

    def _filter(self) -> None:
        words = self._search.value.lower().split()
        found = [
            number
            for number, tool in enumerate(self.tools)
            if all(word in _haystack(tool) for word in words)
        ]
        options = [(_label(self.tools[n]), n) for n in found[:SHOWN]]
        self._list.options = options
        self._list.index = None
        hidden = len(found) - len(options)
        if not found:
            self._count.value = notice("No tool matches.", "neutral")
        else:
            self._count.value = (
                f"{hidden:,} more: type to narrow the list" if hidden else ""
            )

    def _pick(self) -> None:
        number = self._list.value
        if number is None:
            return
        if number not in self._panels:
            self._panels[number] = ToolPanel(self.tools[number])
        self._open.children = [self._panels[number]]

    def close(self) -> None:
        """Close the bench and every panel it opened."""
        for panel in self._panels.values():
            panel.close()
        self._panels.clear()
        self._parts.close()
        if self.comm is not None:  # closing twice does no harm
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shown = super()._repr_mimebundle_(**options)
        lines = "\n".join(_label(tool) for tool in self.tools[:SHOWN])
        return {**(shown or {}), **bundle(f"{len(self.tools)} tools\n{lines}")}


def _haystack(tool: AnyTool) -> str:
    return f"{tool.name} {tool.title} {tool.description} {tool.source}".lower()


def _label(tool: AnyTool) -> str:
    about = tool.description.strip().partition("\n")[0]
    label = f"{tool.name} — {about}" if about else tool.name
    return label if len(label) <= 110 else f"{label[:109]}…"
