"""A bench: a searchable list of tools, the open tool's panel, and beside it the tool's server."""

from collections.abc import Iterable, Sequence
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.core.registry import find_tools
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress, names_apart
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.display.render import bundle
from toolbench.errors import ToolbenchError
from toolbench.runs.record import RunRecord, state_words
from toolbench.widgets.kit.parts import PANEL, Panes, Parts
from toolbench.widgets.kit.search_list import MAX_LINES, Item, PickList, tool_item
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel

if TYPE_CHECKING:
    from toolbench.widgets.explorer.server import ServerView

AnyTool = ToolDefinition[Any, Any]


def bench(*tools: AnyTool | Tool | str | Iterable[AnyTool]) -> w.Widget:
    """Return the panel of a tool. For several tools, return a list that opens their panels.

    Args:
        *tools: Tools, specs of tools, names of tools, or collections of these, such
            as an MCPClient.

    Raises:
        ToolbenchError: If *tools* contains no tool.
        ToolNotFoundError: If no tool has a given name.

    Examples:
        >>> from toolbench import bench, tool
        >>> @tool
        ... def split_bill(total: float, people: int = 2) -> float:
        ...     "Split a bill evenly."
        ...     return total / people
        >>> panel = bench(split_bill)
        >>> panel.form.value = {"total": 84, "people": 4}
        >>> panel.form.value
        {'total': 84, 'people': 4}
    """
    all_tools = _tools(tools)
    if not all_tools:
        msg = "A bench needs at least one tool: bench(my_tool), bench(client)."
        raise ToolbenchError(msg)
    if len(all_tools) == 1:
        return ToolPanel(all_tools[0])
    return Bench(all_tools)


def _tools(value: Any) -> list[AnyTool]:
    if isinstance(value, ToolDefinition):
        return [value]
    if isinstance(value, Tool | str):
        return find_tools(value)[0]
    if isinstance(value, Iterable):
        found = []
        for item in value:
            found += _tools(item)
        return found
    msg = f"{value!r} is not a tool: pass a ToolDefinition, a name, or several of them."
    raise ToolbenchError(msg)


def _items(tools: Sequence[AnyTool]) -> list[Item]:
    """Return *tools* as items of a list, grouped by source if they have several sources.

    Tools of one source that have the same name get different labels from `names_apart`.
    """
    by_source: dict[str, list[int]] = {}
    for number, tool in enumerate(tools):
        by_source.setdefault(tool.source, []).append(number)
    items = []
    for source, numbers in by_source.items():
        group = ""
        if len(by_source) > 1:
            group = _heading(source)
        labels = names_apart([tools[number] for number in numbers])
        for number, label in zip(numbers, labels, strict=True):
            items.append(tool_item(str(number), label, tools[number], group=group))
    return items


def _heading(source: str) -> str:
    if source == ToolDefinition.source:
        return "this notebook"
    return source.removeprefix("mcp:")


class Bench(LiveView):
    """A searchable list of tools, the panel of the open tool, and its server."""

    def __init__(self, tools: Sequence[AnyTool]) -> None:
        """List *tools*, and open the first one that is not destructive."""
        self._parts = parts = Parts()
        self._lock = RLock()
        self.tools = list(tools)
        self._panels: dict[int, ToolPanel] = {}
        self._servers: dict[str, ServerView] = {}
        self._items = _items(self.tools)
        self._list = PickList(parts, "Tools", self._pick, self._lock, rows=12)
        self._list.offer(self._items, "")
        self._panes = Panes(parts)
        self._panes.fill(lists=(self._list.widget,))
        super().__init__(
            parts,
            self._lock,
            [parts.html(PANEL), self._panes.widget],
            "toolbench-workbench",
            use="the tools",
        )
        harmless = [item.key for item in self._items if item.mark != "destructive"]
        if harmless:
            self._list.pick(harmless[0])
        else:
            text = notice(
                "Choose a tool from the list. Destructive tools are not opened automatically.",
                "neutral",
            )
            self._panes.fill(main=(parts.column(parts.html(text), kind="toolbench-page"),))

    @property
    def panel(self) -> ToolPanel | None:
        """The panel of the open tool; None if no tool is open."""
        if self._list.picked is None:
            return None
        return self._panels[int(self._list.picked)]

    def _pick(self, key: str) -> None:
        number = int(key)
        self._panes.fill(main=(self._panel_of(number),), aside=self._server_of(self.tools[number]))

    def _panel_of(self, number: int) -> ToolPanel:
        if number not in self._panels:
            self._panels[number] = ToolPanel(
                self.tools[number],
                when_state=partial(self._show_state, str(number)),
                when_over=lambda _: self.keep(),
            )
        return self._panels[number]

    def resume(self, earlier: Any) -> bool:
        """Open the tools that were open in *earlier*, the bench that the cell showed before."""
        if not isinstance(earlier, Bench):
            return False
        numbers = {ToolAddress.of(tool): number for number, tool in enumerate(self.tools)}
        for panel in earlier._panels.values():
            number = numbers.get(ToolAddress.of(panel.tool))
            if number is not None:
                self._panel_of(number).resume(panel)
        if earlier.panel is not None:
            number = numbers.get(ToolAddress.of(earlier.panel.tool))
            if number is not None:
                self._list.pick(str(number))
        return True

    def _show_state(self, key: str, state: str) -> None:
        """Show in the list that a tool is running or waiting, even if another tool is open."""
        self._list.show_state(key, state_words(state))

    def _server_of(self, tool: AnyTool) -> tuple[w.Widget, ...]:
        """Return the view of the server that runs *tool*; empty if no server runs it."""
        if tool.source == ToolDefinition.source:
            return ()
        if tool.source not in self._servers:
            # only for a tool of a server: this loads toolbench.mcp
            from toolbench.widgets.explorer.server import (  # noqa: PLC0415
                server_view_of,
            )

            view = server_view_of(tool, self._lock, partial(self._use, tool.source))
            if view is None:
                return ()
            self._servers[tool.source] = view
        return (self._servers[tool.source].widget,)

    def _use(self, source: str, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* of the server *source* with *arguments*. If *is_run*, run it.

        Return False if the bench has no such tool.
        """
        for number, tool in enumerate(self.tools):
            if tool.source == source and getattr(tool, "remote_name", tool.name) == name:
                self._list.pick(str(number))
                panel = self._panel_of(number)
                if is_run:
                    panel.put_back(arguments)
                    panel.run()
                else:
                    panel.edit(arguments)
                return True
        return False

    def _views(self) -> list[ToolPanel]:
        # Without the lock: `keep` calls this while it holds the lock of a panel, and `close` takes
        # the locks of the panels while it holds this lock
        return list(self._panels.values())

    def _release(self) -> None:
        for view in self._servers.values():
            view.close()
        self._servers.clear()

    def _static(self) -> dict[str, Any]:
        static = self._listing()
        static["text/html"] += "".join(record.to_html() for record in self._records)
        return static

    @property
    def still(self) -> Html:
        """The names of the tools as HTML."""
        return Html(self._listing()["text/html"])

    def _listing(self) -> dict[str, Any]:
        lines = "\n".join(item.label for item in self._items[:MAX_LINES])
        return bundle(f"{len(self.tools)} tools\n{lines}")

    @property
    def _records(self) -> list[RunRecord]:
        return [panel.record for panel in self._views() if panel.record is not None]
