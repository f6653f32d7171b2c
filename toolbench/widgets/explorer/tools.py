"""The tab with a server's tools: a list, the panel of the open tool, and disabled tools."""

from collections.abc import Callable, Mapping
from functools import partial
from threading import RLock
from typing import Any, ClassVar

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.mcp.apps.preview import app_uri
from toolbench.mcp.lists.listing import DisabledTool
from toolbench.mcp.monitoring.traffic import params_of
from toolbench.mcp.review import TokenBill
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.mcp.tool_groups import OTHERS, ToolGroup, groups_of
from toolbench.runs.record import RunRecord, state_words
from toolbench.widgets.explorer.app_preview import AppView
from toolbench.widgets.explorer.requests import PendingUpdates
from toolbench.widgets.explorer.tabs import ListPane, Lock, changes_html
from toolbench.widgets.explorer.traffic import CALL, TrafficPane, UseTool
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.widgets.kit.search_list import NO_GROUPS, GroupSummary, Item, PickList, tool_item
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.wording import counted

# Tools shown with their cost
_DEAREST = 100
# Disabled tools shown with their reasons
_DISABLED = 50
# A list of this many tools or fewer needs no groups
_FEW = 12
_SHOW, _HIDE = "Show its traffic", "Hide its traffic"
_WITHOUT_TOOLS = {
    "new": "Not loaded yet: the server is not connected yet.",
    "connecting": "Not loaded yet: connecting…",
    "connected": "No tools.",
    "incomplete": "Not loaded: no list of tools came.",
}


class ToolsPane(ListPane):
    """A list of tools. Each picked tool has its own panel, which keeps the values in its form."""

    title = "Tools"
    hears: ClassVar[frozenset[str]] = frozenset({"tools", "status"})

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        when_run: Callable[[RunRecord], object] = lambda record: None,
        search: str = "",
    ) -> None:
        """List the tools of *session* that match the text *search*.

        After each run, *when_run* is called with its record. The first tool that declares itself
        read-only is opened, unless the groups of the list are folded. No other tool is opened
        without a click.
        """
        super().__init__(session, lock)
        parts = self._parts
        self._when_run = when_run
        self._open: dict[str, ServerToolPanel] = {}
        self._notes = parts.html()
        self._list = PickList(parts, "Tools", self._pick, lock)
        self._list.search(search)
        self._disabled = parts.html()
        self._cost = parts.html(kind="toolbench-foot")
        self._empty = parts.html()
        self.detail = parts.column(self._empty)
        below = self._cost, self._disabled
        self.widget = parts.column(self._notes, self._list.widget, *below)
        self.refresh()

    def refresh(self) -> None:
        """Show the server's latest list of tools, and what has changed in it."""
        session = self.session
        problems = "".join(notice(text, "warning") for text in session.problems)
        self._notes.value = problems + changes_html(session.tools.last_change)
        tools = {tool.remote_name: tool for tool in session.tools}
        items, groups = _grouped(tools)
        nothing = _WITHOUT_TOOLS.get(session.status, "Not loaded: not connected.")
        self._list.offer(items, nothing, groups=groups)
        put(self._empty, _empty_html(session))
        # In a folded list this would unfold a group, and push the other headings out of sight
        if not self._list.is_folded:
            self._list.pick_first(mark="read-only")
        self._disabled.value = _disabled_html(session.tools.disabled)
        self._cost.value = _cost_html(TokenBill.of(tools.values()))
        # Not in this call: the lock of a panel must be taken before that of the explorer
        for panel in self._open.values():
            ticker.watch(panel.staleness.check)

    @property
    def searched(self) -> str:
        """The text in the search field of the list."""
        return self._list.searched

    def _pick(self, name: str) -> None:
        if name not in self._open:
            self._open[name] = ServerToolPanel(
                self.session,
                self.session.tool(name),
                self.use,
                when_state=partial(self._show_state, name),
                when_over=self._when_run,
            )
        self.detail.children = [self._open[name]]

    @property
    def is_busy(self) -> bool:
        """Whether one of the tools is running."""
        return any(panel.is_busy for panel in self._open.values())

    def _show_state(self, name: str, state: str) -> None:
        """Show in the list that a tool is running or waiting, even if another tool is open."""
        self._list.show_state(name, state_words(state))

    def use(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* with *arguments* in its form, and run it if *is_run* is true.

        Return whether the server lists the tool.
        """
        if not self._list.pick(name):
            return False
        panel = self._open[name]
        if is_run:
            panel.put_back(arguments)
            panel.run()
        else:
            panel.edit(arguments)
        return True

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return the number of tools in brackets; empty until the server has sent its list."""
        if not session.tools.is_loaded:
            return ""
        return f" ({len(session.tools):,})"

    def close(self) -> None:
        """Close the tab and its panels."""
        for panel in self._open.values():
            panel.close()
        self._open.clear()
        super().close()


def _grouped(
    tools: Mapping[str, MCPToolDefinition],
) -> tuple[list[Item], Mapping[str, GroupSummary]]:
    """Return *tools* as items of a list, and a summary of each group by its heading.

    Tools whose names have the same beginning are a group. If there are only a few tools, or their
    names have nothing in common, there are no groups.
    """
    several, alone = list[ToolGroup](), list[MCPToolDefinition]()
    for group in groups_of(tools.values()):
        if len(group) > 1:
            several.append(group)
        else:
            alone += group
    if len(tools) <= _FEW or len(several) < 2:
        return [tool_item(name, name, tool) for name, tool in tools.items()], NO_GROUPS
    if alone:
        rest = list[MCPToolDefinition]()
        if several[-1].name == OTHERS:
            rest += several.pop()
        several.append(ToolGroup(OTHERS, (*rest, *alone)))
    items: list[Item] = []
    groups: dict[str, GroupSummary] = {}
    for group in several:
        title = f"{group.name} {len(group):,}"
        items += [
            tool_item(tool.remote_name, tool.remote_name, tool, group=title) for tool in group
        ]
        groups[title] = str(group.cost), list(group.effects.items())
    return items, groups


class ServerToolPanel(ToolPanel):
    """The panel of a server's tool, with two more buttons below the result.

    The first button shows the messages of the tool's calls. If the tool has an app, the second
    button shows the app.
    """

    def __init__(
        self,
        session: MCPServerSession,
        tool: ToolDefinition[Any, Any],
        use_tool: UseTool,
        when_state: Callable[[str], object],
        when_over: Callable[[RunRecord], object],
    ) -> None:
        """Open *tool* of *session*.

        When the user repeats or edits a call among the messages, *use_tool* opens its tool. For
        *when_state* and *when_over* see `ToolPanel`.
        """

        def tell_state(state: str) -> None:
            self._traffic.offer(state)
            when_state(state)

        def tell_over(record: RunRecord) -> None:
            # A very short run reports no states
            self._traffic.offer("")
            when_over(record)

        super().__init__(tool, when_state=tell_state, when_over=tell_over)
        self._session = session
        name = getattr(tool, "remote_name", tool.name)
        self._traffic = ToolTraffic(self._parts, session, name, use_tool)
        self._own_children = (*self.children, self._traffic.widget)
        self._app: AppView | None = None
        self._show_app()

    def show(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
    ) -> None:
        """Show *tool* and its app, with *arguments* in a new form."""
        super().show(tool, arguments)
        self._show_app()

    def _show_app(self) -> None:
        """Show the app of the tool instead of the earlier tool's."""
        earlier, self._app = self._app, None
        children = self._own_children
        if app_uri(self.tool) is not None:
            self._app = AppView(self._session, self)
            children = (*children, self._app.widget)
        self.set_trait("children", children)
        if earlier is not None:
            earlier.close()

    def _release(self) -> None:
        super()._release()
        self._traffic.close()
        if self._app is not None:
            self._app.close()


class ToolTraffic:
    """A button that shows the messages of one tool's calls as they arrive, or hides them again."""

    def __init__(
        self, parts: Parts, session: MCPServerSession, tool: str, use_tool: UseTool
    ) -> None:
        """Make the button, with the messages hidden. *tool* is the tool's name on the server."""
        self._session, self._tool, self._use_tool = session, tool, use_tool
        self._pane: TrafficPane | None = None
        self._updates: PendingUpdates | None = None
        self._button = parts.button(_SHOW, self._turn, tip="The messages of its calls on the wire")
        show_if(self._button, is_shown=False)
        self._is_offered = False
        self.offer("")
        self._place = parts.column()
        self.widget = parts.column(parts.row(self._button), self._place, kind="toolbench-beside")

    def offer(self, state: str) -> None:
        """Show the button if there are messages, or if *state*, the tool's state, is "running"."""
        if self._is_offered:
            return
        calls = self._session.traffic.find(method=CALL, direction="sent")
        if state == "running" or any(params_of(m).get("name") == self._tool for m in calls):
            self._is_offered = True
            show_if(self._button, is_shown=True)

    def _turn(self) -> None:
        if self._pane is not None:
            self.close()
            return
        lock = RLock()
        pane = self._pane = TrafficPane(self._session, lock, self._use_tool, tool=self._tool)

        def hear(names: frozenset[str]) -> None:
            with lock:
                # The pane may have been closed meanwhile
                if self._pane is pane and names & pane.hears:
                    pane.refresh()

        self._updates = PendingUpdates(self._session, hear)
        self._place.children = [pane.widget]
        self._button.description = _HIDE

    def close(self) -> None:
        """Hide the messages."""
        pane, self._pane = self._pane, None
        if self._updates is not None:
            self._updates.close()
        if pane is not None:
            self._place.children = ()
            self._button.description = _SHOW
            pane.close()


def _empty_html(session: MCPServerSession) -> Html:
    """Return the text that is shown while no tool is picked."""
    if not session.is_connected:
        text = "No tool can be run while the server is not connected. The tab Server says why and connects it again."
    elif not session.tools.is_loaded:
        text = "The tools are not loaded: the server did not list them. Its tab Server says why."
    elif session.tools:
        text = (
            "Choose a tool from the list. Only tools declared read-only are opened automatically."
        )
    else:
        text = "This server offers no tools. Its resources and prompts are in the other tabs."
    return notice(text, "neutral")


def _disabled_html(tools: list[DisabledTool]) -> Html:
    """Return the tools that cannot be called, each with its reason."""
    if not tools:
        return Html("")
    lines = ""
    for tool in tools[:_DISABLED]:
        name, reason = escape(tool.name[:200]), escape(tool.reason[:1000])
        lines += f"<li><code>{name}</code>: {reason}</li>"
    rest = len(tools) - _DISABLED
    if rest > 0:
        lines += f"<li>{counted(rest, 'other')}</li>"
    what = counted(len(tools), "listed tool")
    return Html(
        f'<details class="toolbench-disabled"><summary style="cursor:pointer">{what} cannot be'
        f' called</summary><ul style="margin:2px 0 6px;padding-left:1.4em;overflow-wrap:'
        f'anywhere">{lines}</ul></details>'
    )


def _cost_html(bill: TokenBill) -> Html:
    """Return the number of tokens of all tools. A click on it shows the most expensive tools."""
    if not bill.tools:
        return Html("")
    rows = ""
    for name, cost in bill.dearest[:_DEAREST]:
        rows += (
            f'<tr><td style="overflow-wrap:anywhere">{escape(name[:200])}</td>'
            f'<td style="text-align:right;padding-left:12px">{escape(cost.number)}</td></tr>'
        )
    table = f"<table>{rows}</table>"
    left = len(bill.tools) - _DEAREST
    if left > 0:
        table += f"<div>and {counted(left, 'cheaper tool')}</div>"
    return Html(
        f'<details {NO_MATHS}><summary style="cursor:pointer">'
        f"A model pays {escape(str(bill.total))} for them in each request</summary>"
        f"{table}</details>"
    )
