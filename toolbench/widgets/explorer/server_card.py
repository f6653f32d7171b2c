"""The tab "Server": its state with buttons to reconnect, and a review that says whether to use it."""

from functools import partial
from typing import Any, ClassVar

from toolbench.core.background_loop import portal
from toolbench.display.css import REMARK
from toolbench.display.escape import NO_MATHS, Html, escape, link, visible
from toolbench.display.images import icon_html
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice
from toolbench.mcp.errors import STDERR
from toolbench.mcp.review import ServerReview, review_of
from toolbench.mcp.server_html import status_badge
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.kit.parts import Parts, put, show_if


class ReviewView:
    """A button that reviews the tools of a server without calling them."""

    def __init__(self, parts: Parts, lock: Lock) -> None:
        """Show the button without an answer; callbacks run while *lock* is held."""
        self._lock = lock
        self._session: MCPServerSession | None = None
        self._server_request: ServerRequest[ServerReview] = ServerRequest(lock)
        self._ask = parts.button(
            "Should I use it?", tip="Its tools, tokens, risks, and what lint says"
        )
        self._answer = parts.html()
        self._ask.on_click(lambda _: self._review())
        self.widget = parts.column(self._ask, self._answer)

    def show(self, session: MCPServerSession) -> None:
        """Set the server to review. Remove the answer about another server."""
        if session is not self._session:
            self._session = session
            self._server_request.forget()
            put(self._answer, Html(""))
        show_if(self._ask, is_shown=session.is_connected)

    def _review(self) -> None:
        with self._lock:
            if self._session is not None:
                self._server_request.start(partial(review_of, self._session), self._show)

    def _show(self, review: ServerReview | Failure) -> None:
        if isinstance(review, Failure):
            put(self._answer, notice(review.text, "danger"))
        else:
            put(self._answer, review.to_html())

    def close(self) -> None:
        """Ignore the answer of a review that still runs."""
        self._server_request.forget()


# Lines shown after the connection broke
_STDERR = 8
# Characters
_INSTRUCTIONS = 2_000


class ServerPane(Pane):
    """The state of a server, its instructions, and the buttons to reconnect it."""

    title = "Server"
    hears: ClassVar[frozenset[str]] = frozenset({"status", "tools", "stderr"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the state of *session*."""
        super().__init__(session, lock)
        parts = self._parts
        self._server_request: ServerRequest[Any] = ServerRequest(lock)
        self._message = Html("")
        self._is_closing = False
        self._about = parts.html()
        self._again = parts.button("Reconnect", tip="Disconnect, and connect afresh")
        self._other = parts.button("Use the older protocol")
        self._close = parts.button("Disconnect")
        self.on(self._again, self._reconnect)
        self.on(self._other, partial(self._reconnect, other=True))
        self.on(self._close, self._disconnect)
        self._more = parts.html()
        self._review = ReviewView(parts, lock)
        buttons = parts.row(self._again, self._close, self._other)
        self.widget = parts.column(self._about, buttons, self._more, self._review.widget)
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the server."""
        session = self.session
        is_closing = self._is_closing
        busy = is_closing or session.status == "connecting"
        self._again.disabled = self._other.disabled = busy
        self._close.disabled = is_closing or session.status in ("closed", "new")
        self._close.description = "Disconnecting …" if is_closing else "Disconnect"
        self._again.description = (
            "Connect" if session.status in ("new", "closed") and not is_closing else "Reconnect"
        )
        older = self._other_mode == "legacy"
        self._other.description = f"Use the {'older' if older else 'newer'} protocol"
        show_if(self._other, is_shown=_may_be_the_protocol(session))
        put(self._about, _about_html(session))
        put(self._more, Html(self._message + _more_html(session)))
        self._review.show(session)

    @property
    def _other_mode(self) -> str:
        session = self.session
        if session.era == "modern":
            return "legacy"
        is_known = session.era == "legacy" or session.connection.mode == "legacy"
        return "auto" if is_known else "legacy"

    def _reconnect(self, *, other: bool = False) -> None:
        session, mode = self.session, self._other_mode if other else None
        if session.status == "connecting":
            return
        self._message = Html("")
        self._again.disabled = self._other.disabled = True
        # not by reconnect(), which may print: the link to authorize on is in this tab
        reconnect = partial(portal.call, session.aconnect, mode)
        self._server_request.start(reconnect, partial(self._connected, mode))

    def _connected(self, mode: str | None, result: Failure | None) -> None:
        if mode == "auto" and self.session.era == "legacy" and result is None:
            text = "The server speaks the older protocol only."
            self._message = notice(text, "neutral")
        self.refresh()

    def _disconnect(self) -> None:
        self._is_closing = True
        # A process may take two seconds to end
        self.refresh()
        self._server_request.start(self.session.close, self._disconnected)

    def _disconnected(self, result: Failure | None) -> None:
        self._is_closing = False
        self.refresh()

    def close(self) -> None:
        """Close the tab; the result of a request that still runs is ignored."""
        self._server_request.forget()
        self._review.close()
        super().close()


def _may_be_the_protocol(session: MCPServerSession) -> bool:
    """Return whether to show the button that reconnects with the other protocol.

    If the server is connected and knows only the older protocol, return False. After an
    error, the other protocol may work if a message was received, or if only one
    protocol was tried. The mode `auto` tries both.
    """
    if session.status in ("new", "closed"):
        return False
    if not session.connection.error:
        return session.era != "legacy" or not session.connection.is_older_only
    traffic = session.traffic
    if any(message.direction == "received" for message in traffic):
        return True
    return session.connection.mode != "auto" and len(traffic) > 0


def _about_html(session: MCPServerSession) -> Html:
    info = session.server_info
    title = str(info.get("title") or info.get("name") or "")
    version = str(info.get("version") or "")
    state = status_badge(session.status)
    protocol = session.protocol_version
    marks = badge(f"protocol {protocol}") if protocol else ""
    rows = [f"{title} {version}".strip(), session.entry.target]
    lines = "".join(f"<div>{escape(row[:300])}</div>" for row in rows if row)
    return Html(
        f"<div {NO_MATHS}><div>{icon_html(info.get('icons'))}"
        f"<strong>{escape(session.name)}</strong></div>"
        f'<div style="margin:3px 0" role="status">{state}{marks}</div>'
        f'<div style="{REMARK};overflow-wrap:anywhere">{lines}</div></div>'
    )


def _more_html(session: MCPServerSession) -> str:
    """Return the page to authorize on, the error and, if connected, the server's instructions.

    If the connection broke, return the last lines on stderr too.
    """
    parts: list[Html] = []
    if page := session.connection.inbox.authorization_url:
        parts.append(_page_html(page))
    if session.error and session.status in ("failed", "incomplete"):
        parts.append(notice(session.error, "danger"))
    elif session.status == "lost":
        lines = session.stderr.last(_STDERR)
        quoted = "".join(f"\n  {line[:300]}" for line in lines)
        last = f"\n{STDERR}{quoted}" if lines else ""
        message = "The connection broke. The next call reconnects, or click Reconnect."
        parts.append(notice(message + last, "danger"))
    if session.instructions.strip() and session.is_connected:
        about = markdown_html(session.instructions, limit=_INSTRUCTIONS)
        parts.append(
            Html(
                '<details><summary style="cursor:pointer">Server instructions</summary>'
                f"{about}</details>"
            )
        )
    return "".join(parts)


def _page_html(page: str) -> Html:
    """Return the link to *page*, on which the person must authorize. Its address can be copied."""
    return Html(
        f'<div {NO_MATHS} role="status" style="overflow-wrap:anywhere">'
        f"Authorize in the browser: {link(page, escape(visible(page)))}</div>"
    )
