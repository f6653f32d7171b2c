"""Several tools in one place: search, pick, run."""

from collections.abc import Iterable, Sequence
from threading import RLock
from typing import Any

import ipywidgets as w

from toolbench.core.registry import resolve_tool
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.display.render import bundle
from toolbench.errors import ToolbenchError
from toolbench.runs.record import RunRecord
from toolbench.widgets.keepsake import Keepsake
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.parts import STYLE, Parts
from toolbench.widgets.pick import SHOWN, Item, PickList

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
        self._items = [
            Item(str(n), tool.name, tool.description, f"{tool.title} {tool.source}")
            for n, tool in enumerate(self.tools)
        ]
        self._list = PickList(parts, "Tools", self._pick, RLock(), rows=12)
        self._list.offer(self._items, "")
        self._keepsake = Keepsake()
        self._open = parts.column()
        super().__init__(
            [parts.html(STYLE), *self._list.widgets, self._open],
            _dom_classes=("toolbench-box",),
        )

    def _pick(self, key: str) -> None:
        number = int(key)
        if number not in self._panels:
            self._panels[number] = panel = ToolPanel(self.tools[number])
            panel.when_over = self._keep
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
        static = self._static()
        ran = "".join(record.to_html() for record in self._records)
        static["text/html"] += ran
        self._keepsake.show(static["text/html"], self._records)
        return {**(super()._repr_mimebundle_(**options) or {}), **static}

    def _static(self) -> dict[str, Any]:
        lines = "\n".join(item.label for item in self._items[:SHOWN])
        return bundle(f"{len(self.tools)} tools\n{lines}")

    def _keep(self) -> None:
        self._keepsake.keep(self._static()["text/html"], self._records)

    @property
    def _records(self) -> list[RunRecord]:
        panels = self._panels.values()
        return [panel.record for panel in panels if panel.record is not None]
