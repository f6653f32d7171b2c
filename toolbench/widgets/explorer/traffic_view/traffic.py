"""The tab of all JSON-RPC messages to and from a server: filter, open, copy and repeat them."""

from collections.abc import Callable
from typing import Any, ClassVar

import ipywidgets as w

from toolbench.display.caps import cap
from toolbench.display.css import PRE
from toolbench.display.escape import Html, escape
from toolbench.display.page import Card, cards_html
from toolbench.mcp.monitoring.traffic import Exchange, Exchanges
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.widgets.explorer.traffic_view.open_message import OpenMessage, UseTool
from toolbench.widgets.explorer.traffic_view.traffic_lines import traffic_lines
from toolbench.widgets.kit.parts import put
from toolbench.wording import counted

# Characters of the text to copy, at most
_COPIED = 200_000
_KINDS: dict[str, Callable[[Exchange], bool]] = {
    "everything": lambda e: True,
    "sent by us": lambda e: e.message.direction == "sent",
    "sent by the server": lambda e: e.message.direction == "received",
    "requests": lambda e: e.message.kind == "request",
    "notifications": lambda e: e.message.kind == "notification",
    "errors and noise": lambda e: e.is_failed,
}


class TrafficPane(Pane):
    """A line for each exchange, and below the lines the message that a person opened."""

    title = "Traffic"
    hears: ClassVar[frozenset[str]] = frozenset({"traffic", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock, use_tool: UseTool) -> None:
        """Show the messages that were sent and received so far.

        *use_tool* opens the tool of a message, to repeat or to edit its call.
        """
        super().__init__(session, lock)
        parts = self._parts
        self._read = 0
        self._exchanges = Exchanges()
        self._all: dict[int, Exchange] = {}
        self._kind = parts.chooser("Show", list(_KINDS))
        self._text = parts.make(
            w.Text,
            "toolbench-field",
            description="Containing",
            placeholder="Filter messages",
        )
        self._lines = traffic_lines(parts)
        self._number = self._lines.number
        self._opened = OpenMessage(parts, session, lock, use_tool)
        self._as_text = parts.button(
            "List as text",
            tip="The messages that the list shows, as text to copy or save",
        )
        self._whole = parts.html()
        self.on(self._kind, self._restart)
        self.on(self._text, self._restart)
        self.on(self._number, self._open)
        self.on(self._as_text, self._show_text)
        self.on(self._opened.repeat, self._opened.send_again)
        self.on(self._opened.edit, self._opened.start_editing)
        self.on(self._opened.send, self._opened.send_edited)
        self.on(self._opened.close, self._close_message)
        self.widget = parts.column(
            parts.row(self._kind, self._text, kind="toolbench-filters"),
            self._lines.widget,
            self._opened.widget,
            parts.row(self._as_text),
            self._whole,
        )
        self.refresh()

    def refresh(self) -> None:
        """Add the new messages."""
        traffic = self.session.traffic
        new = [m for m in traffic if m.id > self._read]
        if not new:
            return
        self._read = new[-1].id
        changed = self._exchanges.add(new)
        self._all.update((exchange.id, exchange) for exchange in changed)
        self._forget_old(traffic[0].id)
        self._lines.add([exchange for exchange in changed if self._fits(exchange)])
        if self._opened.number in {exchange.id for exchange in changed}:
            self._opened.refresh()

    def _forget_old(self, oldest: int) -> None:
        """Remove the exchanges that the session does not have any more.

        *oldest* is the number of the oldest message that the session has.
        """
        for number in list(self._all):
            exchange = self._all[number]
            if (exchange.answer or exchange.message).id >= oldest:
                break
            del self._all[number]

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return the number of messages, in brackets; empty if there are none."""
        return f" ({len(session.traffic):,})" if session.traffic else ""

    def _restart(self) -> None:
        matching = self._matching()
        # One more letter often changes nothing
        if not self._lines.shows(matching):
            self._lines.restart(matching)

    def _matching(self) -> list[Exchange]:
        return [exchange for exchange in self._all.values() if self._fits(exchange)]

    def _fits(self, exchange: Exchange) -> bool:
        if not _KINDS[self._kind.value](exchange):
            return False
        words = self._text.value.strip().lower()
        parts = (exchange.message, exchange.answer)
        return not words or any(
            words in part.method.lower() or words in part.text.lower()
            for part in parts
            if part is not None
        )

    def _open(self) -> None:
        number = self._number.value.strip().lstrip("#")
        exchange = self._all.get(int(number)) if number.isdecimal() else None
        self._opened.show(exchange)

    def _close_message(self) -> None:
        self._number.value = ""
        self._opened.show(None)

    def _show_text(self) -> None:
        """Show the listed messages as JSON, one line for each message."""
        matching = self._matching()
        messages: list[Any] = [e.message for e in matching]
        messages += [e.answer for e in matching if e.answer is not None]
        texts = [m.text for m in sorted(messages, key=lambda m: m.id)]
        text = cap("\n".join(texts), _COPIED)
        mark = "data-toolbench-part " * (text.omitted > 0)
        content = Html(f'<pre {mark}style="{PRE};white-space:pre-wrap">{escape(str(text))}</pre>')
        total = sum(1 if e.answer is None else 2 for e in self._all.values())
        size = counted(len(texts), "message")
        if len(texts) < total:
            size = f"{size} of {total:,}, as the list is filtered"
        card = Card("Messages as text", content, size)
        put(self._whole, cards_html([card]))

    def close(self) -> None:
        """Close the tab; the answer of a request that still runs is ignored."""
        self._opened.forget()
        super().close()
