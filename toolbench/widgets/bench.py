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
from toolbench.runs.record import RunRecord
from toolbench.widgets.keepsake import Keepsake
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.parts import HIDDEN, STYLE, Parts

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
        self._lists = [self._new_list(), self._new_list()]
        self._keepsake = Keepsake()
        self._count = parts.html()
        self._open = parts.column()
        super().__init__(
            [
                *(parts.html(STYLE), self._search, *self._lists),
                *(self._count, self._open),
            ],
            _dom_classes=("toolbench-box",),
        )
        self._filter()
        self._search.observe(lambda _: self._filter(), "value")

    def _new_list(self) -> Any:
        shown = self._parts.make(
            w.Select,
            *("toolbench-field", "toolbench-list", HIDDEN),
            description="Tools",
            rows=min(12, len(self.tools)),
        )
        shown.observe(lambda _: self._pick(shown.value), "index")
        return shown

    @property
    def _list(self) -> Any:
        """The list that is seen."""
        return self._lists[0]

    def _fill(self, options: list[tuple[str, int]]) -> None:
        """Show *options* in the other list.

        A click says only which line it was on. One that is still under way when the list
        changes is on a line of the list it was made in, and that stays as it is.
        """
        fresh, old = reversed(self._lists)
        fresh.index = None  # or the first option would be picked
        fresh.options = options
        fresh.remove_class(HIDDEN)
        old.add_class(HIDDEN)
        self._lists = [fresh, old]

    def _filter(self) -> None:
        words = self._search.value.lower().split()
        found = [
            number
            for number, tool in enumerate(self.tools)
            if all(word in _haystack(tool) for word in words)
        ]
        options = [(_label(self.tools[n]), n) for n in found[:SHOWN]]
        self._fill(options)
        hidden = len(found) - len(options)
        if not found:
            self._count.value = notice("No tool matches.", "neutral")
        else:
            self._count.value = (
                f"{hidden:,} more: type to narrow the list" if hidden else ""
            )

    def _pick(self, number: int | None) -> None:
        if number is None:
            return
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
        lines = "\n".join(_label(tool) for tool in self.tools[:SHOWN])
        return bundle(f"{len(self.tools)} tools\n{lines}")

    def _keep(self) -> None:
        self._keepsake.keep(self._static()["text/html"], self._records)

    @property
    def _records(self) -> list[RunRecord]:
        panels = self._panels.values()
        return [panel.record for panel in panels if panel.record is not None]


def _haystack(tool: AnyTool) -> str:
    return f"{tool.name} {tool.title} {tool.description} {tool.source}".lower()


def _label(tool: AnyTool) -> str:
    about = tool.description.strip().partition("\n")[0]
    label = f"{tool.name} — {about}" if about else tool.name
    return label if len(label) <= 110 else f"{label[:109]}…"
