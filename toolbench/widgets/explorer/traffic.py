"""Every JSON-RPC message between us and a server: to filter, to open, to copy."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import ipywidgets as w

from toolbench.display.caps import cap
from toolbench.display.colors import on_page
from toolbench.display.escape import Html, escape, visible
from toolbench.display.sizes import counted
from toolbench.mcp.session import MCPServerSession
from toolbench.mcp.tap import Message
from toolbench.widgets.explorer.feed import Feed
from toolbench.widgets.explorer.log import clock
from toolbench.widgets.explorer.pane import Lock, Pane

_INLINE = 1_200  # characters of a message that is opened in its line
_COPIED = 200_000  # characters offered for copying
_ALL = "everything"
_KINDS: dict[str, Callable[[Message], bool]] = {
    _ALL: lambda m: True,
    "sent": lambda m: m.direction == "sent",
    "received": lambda m: m.direction == "received",
    "requests and answers": lambda m: m.kind in ("request", "response", "error"),
    "notifications": lambda m: m.kind == "notification",
    "errors and noise": lambda m: m.kind in ("error", "noise"),
}
_DANGER = on_page((190, 50, 60))


class TrafficPane(Pane):
    """A line for each message, as it comes; a long one is read and copied below."""

    title = "Traffic"
    hears: ClassVar[frozenset[str]] = frozenset({"traffic", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the messages so far."""
        super().__init__(session, lock)
        parts = self._parts
        self._seen = 0
        self._kind = parts.chooser("Show", list(_KINDS))
        self._text = parts.make(
            w.Text,
            "toolbench-field",
            description="Containing",
            placeholder="any text; then Enter",
            continuous_update=False,
        )
        self._feed: Feed[Message] = Feed(
            parts, message_html, nothing="No message matches."
        )
        self._number = parts.make(
            w.Text,
            "toolbench-field",
            description="Message",
            placeholder="its number; empty for all of the above",
            continuous_update=False,
        )
        self._copy = parts.button("Show to copy")
        self._area = parts.make(
            w.Textarea, "toolbench-code", description="JSON to copy"
        )
        self._place = parts.column()
        self.on(self._kind, self._restart)
        self.on(self._text, self._restart)
        self.on(self._copy, self._show)
        self.widget = parts.column(
            parts.row(self._kind, self._text),
            self._feed.widget,
            parts.row(self._number, self._copy),
            self._place,
        )
        self.refresh()

    def refresh(self) -> None:
        """Add the messages that are new."""
        new = [m for m in self.session.traffic if m.id > self._seen]
        if new:
            self._seen = new[-1].id
            self._feed.add([m for m in new if self._fits(m)])

    def _restart(self) -> None:
        self._feed.restart(self._matching())

    def _matching(self) -> list[Message]:
        return [m for m in self.session.traffic if self._fits(m)]

    def _fits(self, message: Message) -> bool:
        wanted = self._text.value.strip().lower()
        if not _KINDS[self._kind.value](message):
            return False
        return wanted in message.method.lower() or wanted in message.text.lower()

    def _show(self) -> None:
        """Offer one message, or all that match, as text."""
        number = self._number.value.strip().lstrip("#")
        if number:
            found = [m for m in self.session.traffic if str(m.id) == number]
            text = indented(found[0]) if found else f"There is no message {number!r}."
        else:
            text = "\n".join(m.text for m in self._matching())
        self._area.value = str(cap(text, _COPIED))
        self._place.children = [self._area]


def indented(message: Message) -> str:
    """Return the message as indented JSON, or as it came if it is none."""
    value: Any = message.json
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False)


def message_html(message: Message) -> Html:
    """Return one message as a line to open."""
    arrow = "→" if message.direction == "sent" else "←"
    words = [
        f"{arrow} {message.direction}",
        message.kind,
        message.method,
        "" if message.request_id is None else f"id {message.request_id}",
        counted(message.size, "char"),
        "" if message.seconds is None else f"{message.seconds * 1000:,.0f} ms",
    ]
    said = escape(" · ".join(word for word in words if word)[:300])
    style = f' style="color:{_DANGER}"' if message.kind in ("error", "noise") else ""
    text = indented(message)
    more = len(text) - _INLINE
    rest = f"\n… {counted(more, 'more character')}: show message {message.id} to copy"
    body = visible(text[:_INLINE]) + (rest if more > 0 else "")
    return Html(
        '<details class="toolbench-line tex2jax_ignore mathjax_ignore"><summary>'
        f'<span class="toolbench-dim">#{message.id} {clock(message.time)}</span> '
        f"<span{style}>{said}</span></summary><pre>{escape(body)}</pre></details>"
    )
