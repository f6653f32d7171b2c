"""What is said of one server beside its tabs, and the buttons that connect it again."""

from functools import partial
from typing import Any

from toolbench.display.css import REMARK
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.markdown import markdown_html
from toolbench.display.page import Tone, badge, notice
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.news import Errand, Failure
from toolbench.widgets.explorer.pane import Lock
from toolbench.widgets.parts import Parts, put, show_if

WORDS: dict[str, str] = {
    "new": "not connected yet",
    "connecting": "connecting…",
    "connected": "connected",
    "lost": "connection lost",
    "failed": "did not connect",
    "closed": "disconnected",
}
_TONES: dict[str, Tone] = {
    "connected": "success",
    "connecting": "info",
    "lost": "danger",
    "failed": "danger",
}
_ERAS = {"modern": "newer protocol", "legacy": "older protocol"}
_STDERR = 8  # lines shown of a server that is not there
_INSTRUCTIONS = 2_000  # characters


class ServerCard:
    """Shows one server at a time."""

    def __init__(self, parts: Parts, lock: Lock) -> None:
        """Show nothing at first; everything happens while *lock* is held."""
        self._lock = lock
        self._session: MCPServerSession | None = None
        self._errand: Errand[Any] = Errand(lock)
        self._said = Html("")
        self._about = parts.html()
        self._again = parts.button("Reconnect", tip="Disconnect, and connect afresh")
        self._other = parts.button("Use the older protocol")
        self._close = parts.button("Disconnect")
        self._again.on_click(lambda _: self._reconnect())
        self._other.on_click(lambda _: self._reconnect(other=True))
        self._close.on_click(lambda _: self._disconnect())
        self._buttons = parts.row(self._again, self._other, self._close)
        self._more = parts.html()
        self.widget = parts.column()

    def show(self, session: MCPServerSession) -> None:
        """Show *session* as it is now."""
        if session is not self._session:
            self._errand.forget()
            self._session, self._said = session, Html("")
        busy = session.status == "connecting"
        self._again.disabled = self._other.disabled = busy
        self._close.disabled = session.status in ("closed", "new")
        self._again.description = (
            "Connect" if session.status in ("new", "closed") else "Reconnect"
        )
        older = self._other_mode == "legacy"
        self._other.description = f"Use the {'older' if older else 'newer'} protocol"
        show_if(self._other, wanted=_may_be_the_protocol(session))
        put(self._about, _about_html(session))
        put(self._more, Html(self._said + _more_html(session)))
        shown = (self._about, self._buttons, self._more)
        if self.widget.children != shown:
            self.widget.children = shown

    def clear(self) -> None:
        """Show no server."""
        self._session = None
        self.widget.children = ()

    @property
    def _other_mode(self) -> str:
        session = self._session
        if session is None or session.era == "modern":
            return "legacy"
        is_known = session.era == "legacy" or session.mode == "legacy"
        return "auto" if is_known else "legacy"

    def _reconnect(self, *, other: bool = False) -> None:
        with self._lock:
            session, mode = self._session, self._other_mode if other else None
            if session is None or session.status == "connecting":
                return
            self._said = Html("")
            self._again.disabled = self._other.disabled = True
            reconnect = partial(session.reconnect, mode)
            self._errand.start(reconnect, partial(self._connected, session, mode))

    def _connected(
        self, session: MCPServerSession, mode: str | None, came: Failure | None
    ) -> None:
        if mode == "auto" and session.era == "legacy" and came is None:
            said = "The server speaks the older protocol only."
            self._said = notice(said, "neutral")
        self.show(session)

    def _disconnect(self) -> None:
        with self._lock:
            session = self._session
            if session is not None:
                self._errand.start(session.close, lambda _: self.show(session))

    def close(self) -> None:
        """Show nothing any more of what is under way."""
        self._errand.forget()


def status_words(session: MCPServerSession) -> str:
    """Return the state of a server in words."""
    return WORDS.get(session.status, session.status)


def _may_be_the_protocol(session: MCPServerSession) -> bool:
    """Whether another protocol could change anything: not where nobody ever said a word.

    `auto` has tried both; where one protocol was asked for, what was sent may not be understood.
    """
    if not session.error:
        return True
    traffic = session.traffic
    if any(message.direction == "received" for message in traffic):
        return True
    return session.mode != "auto" and len(traffic) > 0


def _about_html(session: MCPServerSession) -> Html:
    info = session.server_info
    title = str(info.get("title") or info.get("name") or "")
    version = str(info.get("version") or "")
    state = badge(status_words(session), _TONES.get(session.status, "neutral"))
    era = _ERAS.get(session.era or "", "")
    marks = badge(f"MCP {session.protocol_version}") if session.protocol_version else ""
    marks += badge(era) if era else ""
    rows = [f"{title} {version}".strip(), session.entry.target]
    lines = "".join(f"<div>{escape(row[:300])}</div>" for row in rows if row)
    return Html(
        f"<div {NO_MATHS}><div><strong>{escape(session.name)}</strong></div>"
        f'<div style="margin:3px 0" role="status">{state}{marks}</div>'
        f'<div style="{REMARK};overflow-wrap:anywhere">{lines}</div></div>'
    )


def _more_html(session: MCPServerSession) -> str:
    """Why it is not there, with its last words; how it wants to be used, if it is."""
    parts: list[Html] = []
    if session.error and session.status == "failed":
        parts.append(notice(session.error, "danger"))
    elif session.status == "lost":
        lines = session.stderr.last(_STDERR)
        quoted = "".join(f"\n  {line[:300]}" for line in lines)
        last = f"\nIts last lines on stderr:{quoted}" if lines else ""
        said = "The connection broke. The next call connects again, or you do."
        parts.append(notice(said + last, "danger"))
    if session.instructions.strip() and session.status == "connected":
        about = markdown_html(session.instructions, limit=_INSTRUCTIONS)
        parts.append(
            Html(
                '<details><summary style="cursor:pointer">How it wants to be used</summary>'
                f"{about}</details>"
            )
        )
    return "".join(parts)
