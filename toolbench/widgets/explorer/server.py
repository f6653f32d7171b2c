"""The tabs about a server itself, in the explorer and beside a tool of the server.

The first tab shows the state of the server. Its buttons reconnect the server, and review the cost
and the risks of its tools.
"""

from functools import partial
from shlex import quote
from typing import Any, ClassVar

from toolbench.core.background_loop import portal
from toolbench.core.tool import ToolDefinition
from toolbench.display.css import REMARK
from toolbench.display.escape import NO_MATHS, Html, escape, link, visible
from toolbench.display.images import icon_html
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice
from toolbench.mcp.errors import STDERR
from toolbench.mcp.review import ServerReview, review_of
from toolbench.mcp.server_html import status_badge
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.tool import MCPToolExecutor
from toolbench.widgets.explorer.log import LogPane
from toolbench.widgets.explorer.over_time import ChangesPane, RecordingPane
from toolbench.widgets.explorer.requests import Failure, PendingUpdates
from toolbench.widgets.explorer.tabs import Lock, MakePane, Pane, TabSet
from toolbench.widgets.explorer.timeline import TimelinePane
from toolbench.widgets.explorer.traffic import TrafficPane, UseTool
from toolbench.widgets.kit.parts import put, show_if

# Lines shown after the connection broke
_STDERR = 8
# Characters
_INSTRUCTIONS = 2_000


class ServerPane(Pane):
    """The state of a server, its instructions, and buttons to reconnect and to review it."""

    title = "Server"
    hears: ClassVar[frozenset[str]] = frozenset({"status", "tools", "stderr"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the state of *session*."""
        super().__init__(session, lock)
        parts = self._parts
        self._connecting, self._reviewing = self.request(), self.request()
        self._is_closing = False
        self._about = parts.html()
        tip = f"Disconnect, and connect afresh. In the older protocol: %mcp reconnect {quote(session.name)} --mode legacy"
        self._again = self.button("Reconnect", self._reconnect, tip=tip)
        self._close = self.button("Disconnect", self._disconnect)
        self._more = parts.html()
        self._review = self.button(
            "Should I use it?",
            self._start_review,
            tip="Its tools, tokens, risks, and what lint says",
        )
        self._answer = parts.html()
        buttons = parts.row(self._again, self._close)
        below = [self._more, parts.column(self._review, self._answer)]
        self.widget = parts.column(self._about, buttons, *below)
        self.refresh()

    def refresh(self) -> None:
        """Show the current state of the server."""
        session, is_closing = self.session, self._is_closing
        is_away = session.status in ("new", "closed")
        self._again.disabled = is_closing or session.status == "connecting"
        self._close.disabled = is_closing or is_away
        again, close = "Reconnect", "Disconnect"
        if is_closing:
            close = "Disconnecting …"
        elif is_away:
            again = "Connect"
        self._close.description, self._again.description = close, again
        show_if(self._review, is_shown=session.is_connected)
        put(self._about, _about_html(session))
        put(self._more, Html(_more_html(session)))

    # --- the connection --------------------------------------------------------------

    def _reconnect(self) -> None:
        if self.session.status == "connecting":
            return
        self._again.disabled = True
        # Not with reconnect(), which may print: the link to the authorization page is in this tab
        self._connecting.start(partial(portal.call, self.session.aconnect), self._ended)

    def _disconnect(self) -> None:
        self._is_closing = True
        # A process may take two seconds to exit
        self.refresh()
        self._connecting.start(self.session.close, self._ended)

    def _ended(self, result: Failure | None) -> None:
        self._is_closing = False
        self.refresh()

    # --- the review ------------------------------------------------------------------

    def _start_review(self) -> None:
        self._reviewing.start(partial(review_of, self.session), self._show_review)

    def _show_review(self, review: ServerReview | Failure) -> None:
        if isinstance(review, Failure):
            put(self._answer, notice(review.text, "danger"))
        else:
            put(self._answer, review.to_html())


def _about_html(session: MCPServerSession) -> Html:
    info = session.server_info
    title = str(info.get("title") or info.get("name") or "")
    version = str(info.get("version") or "")
    marks = status_badge(session.status)
    if session.protocol_version:
        marks = Html(marks + badge(f"protocol {session.protocol_version}"))
    lines = ""
    for row in (f"{title} {version}".strip(), session.entry.target):
        if row:
            lines += f"<div>{escape(row[:300])}</div>"
    return Html(
        f"<div {NO_MATHS}><div>{icon_html(info.get('icons'))}"
        f"<strong>{escape(session.name)}</strong></div>"
        f'<div style="margin:3px 0" role="status">{marks}</div>'
        f'<div style="{REMARK};overflow-wrap:anywhere">{lines}</div></div>'
    )


def _more_html(session: MCPServerSession) -> str:
    """Return HTML about the server: a link for authorization, an error, and its instructions.

    Each part is there only if it applies. The error of a broken connection includes the last lines
    that the server wrote to stderr.
    """
    html = ""
    if page := session.connection.inbox.authorization_url:
        # Its address can be copied
        html += (
            f'<div {NO_MATHS} role="status" style="overflow-wrap:anywhere">'
            f"Authorize in the browser: {link(page, escape(visible(page)))}</div>"
        )
    if session.error and session.status in ("failed", "incomplete"):
        html += notice(session.error, "danger")
    elif session.status == "lost":
        text = "The connection broke. The next call reconnects, or click Reconnect."
        lines = session.stderr.last(_STDERR)
        if lines:
            text += f"\n{STDERR}"
        for line in lines:
            text += f"\n  {line[:300]}"
        html += notice(text, "danger")
    if session.instructions.strip() and session.is_connected:
        html += (
            '<details><summary style="cursor:pointer">Server instructions</summary>'
            f"{markdown_html(session.instructions, limit=_INSTRUCTIONS)}</details>"
        )
    return html


# --- all tabs ----------------------------------------------------------------------------


class ServerView(TabSet):
    """The tabs about a server: Server, Log, Traffic, Timeline, Recording and Changes.

    The visible tab is updated whenever the server changes.
    """

    def __init__(self, session: MCPServerSession, lock: Lock, use_tool: UseTool) -> None:
        """Show the state of *session*. The other tabs are made when they are first opened.

        Args:
            session: The server.
            lock: The lock of the view that contains the tabs, which is held during their updates.
            use_tool: A function that opens the panel of a tool, with arguments in its form.
        """
        kinds: dict[type[Pane], MakePane] = {
            ServerPane: ServerPane,
            LogPane: LogPane,
            TrafficPane: partial(TrafficPane, use_tool=use_tool),
            TimelinePane: TimelinePane,
            RecordingPane: RecordingPane,
            ChangesPane: ChangesPane,
        }
        super().__init__(session, lock, kinds)
        self._updates = PendingUpdates(session, self.hear)

    def close(self) -> None:
        """Stop all updates and close the tabs."""
        self._updates.close()
        super().close()


def server_view_of(
    tool: ToolDefinition[Any, Any], lock: Lock, use_tool: UseTool
) -> ServerView | None:
    """Return the view of the server that runs *tool*; None if no server runs it."""
    executor = tool.executor
    if isinstance(executor, MCPToolExecutor):
        return ServerView(executor.client, lock, use_tool)
    return None
