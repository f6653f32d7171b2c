"""The tab of a server's tools: a list, the panel of the open tool, and disabled tools."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.mcp.apps.preview import app_uri
from toolbench.mcp.lists.listing import DisabledTool
from toolbench.mcp.review import TokenBill
from toolbench.mcp.session import MCPServerSession
from toolbench.runs.record import RunRecord, state_words
from toolbench.widgets.explorer.app_preview import AppView
from toolbench.widgets.explorer.tabs import (
    ListPane,
    Lock,
    changes_html,
)
from toolbench.widgets.kit.parts import put
from toolbench.widgets.kit.search_list import PickList, tool_item
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.wording import counted

# Tools shown with their cost
_DEAREST = 100
# Disabled tools shown with their reasons
_DISABLED = 50
_WITHOUT_TOOLS = {"connected": "No tools.", "incomplete": "No list of tools came."}


class ToolsPane(ListPane):
    """A list of tools. Each picked tool has its own panel, which keeps the values of its form."""

    title = "Tools"
    hears: ClassVar[frozenset[str]] = frozenset({"tools", "status"})

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        when_run: Callable[[RunRecord], object] = lambda record: None,
    ) -> None:
        """List the tools and open the first; call *when_run* with the record of each ended run."""
        super().__init__(session, lock)
        parts = self._parts
        self._when_run = when_run
        self._open: dict[str, ServerToolPanel] = {}
        self._notes = parts.html()
        self._list = PickList(parts, "Tools", self._pick, lock)
        self._disabled = parts.html()
        self._cost = parts.html(kind="toolbench-foot")
        self._empty = parts.html()
        self.detail = parts.column(self._empty)
        below = self._cost, self._disabled
        self.widget = parts.column(self._notes, self._list.widget, *below)
        self.refresh()

    def refresh(self) -> None:
        """Show the server's latest list of tools, and what changed in it."""
        session = self.session
        problems = "".join(notice(text, "warning") for text in session.problems)
        self._notes.value = problems + changes_html(session.tools.last_change)
        tools = {tool.remote_name: tool for tool in session.tools}
        self._list.offer(
            [tool_item(name, name, tool) for name, tool in tools.items()],
            _WITHOUT_TOOLS.get(session.status, "Not connected."),
        )
        put(self._empty, _empty_html(session))
        self._list.pick_first()
        self._disabled.value = _disabled_html(session.tools.disabled)
        self._cost.value = _cost_html(TokenBill.of(tools.values()))
        # Not here: the lock of a panel comes before that of the explorer
        for panel in self._open.values():
            ticker.watch(panel.staleness.check)

    def _pick(self, name: str) -> None:
        if name not in self._open:
            self._open[name] = ServerToolPanel(
                self.session,
                self.session.tool(name),
                when_state=partial(self._show_state, name),
                when_over=self._when_run,
            )
        self.detail.children = [self._open[name]]

    @property
    def is_busy(self) -> bool:
        """Whether one of the tools runs."""
        return any(panel.is_busy for panel in self._open.values())

    def _show_state(self, name: str, state: str) -> None:
        """Show in the list that a tool runs or waits for an answer, also while another one is open."""
        self._list.show_state(name, state_words(state))

    def use(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name*, filled with *arguments*, and run it if *is_run* is true.

        Return True if the server lists the tool, else False.
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
        """Return the number of tools, in brackets."""
        return f" ({len(session.tools):,})"

    def close(self) -> None:
        """Close the tab and its panels."""
        for panel in self._open.values():
            panel.close()
        self._open.clear()
        super().close()


class ServerToolPanel(ToolPanel):
    """The panel of a server's tool, and below it the app of the tool, if there is one."""

    def __init__(
        self,
        session: MCPServerSession,
        tool: ToolDefinition[Any, Any],
        when_state: Callable[[str], object],
        when_over: Callable[[RunRecord], object],
    ) -> None:
        """Open *tool* of *session*; for *when_state* and *when_over* see `ToolPanel`."""
        super().__init__(tool, when_state=when_state, when_over=when_over)
        self._session = session
        self._own_children = self.children
        self._app: AppView | None = None
        self._show_app()

    def show(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
    ) -> None:
        """Show *tool* with its app, with *arguments* in a new form."""
        super().show(tool, arguments)
        self._show_app()

    def _show_app(self) -> None:
        """Show the app of the tool in place of the earlier one."""
        earlier, self._app = self._app, None
        if app_uri(self.tool) is not None:
            self._app = AppView(self._session, self)
            self.set_trait("children", (*self._own_children, self._app.widget))
        elif earlier is not None:
            self.set_trait("children", self._own_children)
        if earlier is not None:
            earlier.close()

    def _release(self) -> None:
        super()._release()
        if self._app is not None:
            self._app.close()


def _empty_html(session: MCPServerSession) -> Html:
    """Return what the user sees while no tool is picked."""
    if not session.is_connected:
        text = "No tool can be run while the server is not connected. The tab Server says why and connects it again."
    else:
        text = (
            "This server offers no tools. Its resources and prompts are in the tabs beside Tools."
        )
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
    """Return the number of tokens of all tools. A click on it shows the tools that need most tokens."""
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
