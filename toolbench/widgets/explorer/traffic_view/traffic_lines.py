"""The lines of the traffic: a request and its answer on one, in pieces that are sent once each.

Each line is text in columns, which is what is seen where the page has no module of ours; with it
`frontend/src/traffic.ts` draws them, however many there are.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.mcp.monitoring.exchanges import Exchange
from toolbench.widgets.explorer.panes.logs import clock
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

PIECE = 100  # lines of one widget
PIECES = 100  # widgets
_WIDTHS = (6, 8, 1, 40, 30)  # characters of the columns, but the last


class TrafficLines:
    """Shows the last exchanges; only pieces that changed are sent again."""

    def __init__(self, parts: Parts) -> None:
        """Show none at first."""
        self._parts = parts
        self._pieces: list[list[Exchange]] = []
        self._widgets: list[Any] = []
        self._place: dict[int, list[Exchange]] = {}
        self._dropped = 0
        self._head = parts.html(_NOTHING)
        self._box = parts.column(kind="toolbench-lines")
        self._box.tabbable = True
        self.widgets = [self._head, self._box]
        """What is to be shown, one below the other."""

    def restart(self, exchanges: Iterable[Exchange]) -> None:
        """Show *exchanges* in place of what was shown."""
        old = self._widgets
        self._pieces, self._widgets, self._place, self._dropped = [], [], {}, 0
        self.add(exchanges)
        self._parts.drop(old)

    def add(self, exchanges: Iterable[Exchange]) -> None:
        """Show *exchanges*: those that are shown already where they are, others at the end."""
        changed: dict[int, list[Exchange]] = {}
        for exchange in exchanges:
            piece = self._place.get(exchange.id)
            if piece is None:
                if not self._pieces or len(self._pieces[-1]) == PIECE:
                    self._pieces.append([])
                piece = self._pieces[-1]
                piece.append(exchange)
                self._place[exchange.id] = piece
            changed[id(piece)] = piece
        self._trim()
        self._send(changed)

    def _trim(self) -> None:
        extra = max(0, len(self._pieces) - PIECES)
        for piece in self._pieces[:extra]:
            self._dropped += len(piece)
            for exchange in piece:
                del self._place[exchange.id]
        old, self._widgets = self._widgets[:extra], self._widgets[extra:]
        self._pieces = self._pieces[extra:]
        if old:
            self._arrange()
            self._parts.drop(old)

    def _send(self, changed: dict[int, list[Exchange]]) -> None:
        for index, piece in enumerate(self._pieces):
            if index == len(self._widgets):
                self._widgets.append(self._parts.html())
            if id(piece) in changed:
                put(self._widgets[index], _piece_html(piece))
        self._arrange()

    def _arrange(self) -> None:
        newest_first = tuple(reversed(self._widgets))
        if self._box.children != newest_first:
            self._box.children = newest_first
        text = f"{counted(self._dropped, 'earlier exchange')} not shown"
        dim = f'<span class="toolbench-dim">{text}</span>' if self._dropped else ""
        put(self._head, Html(dim) if self._pieces else _NOTHING)


_NOTHING = notice("No message matches.", "neutral")


def _piece_html(piece: list[Exchange]) -> Html:
    lines = "".join(map(line_html, piece))
    return Html(
        f'<div {NO_MATHS} data-toolbench-messages="{piece[0].id}">{lines}</div>'
    )


def line_html(exchange: Exchange) -> Html:
    """Return one exchange as a line: number, time, direction, subject, outcome, duration."""
    message, answer = exchange.message, exchange.answer
    took = answer.seconds if answer is not None else None
    columns = (
        f"#{message.id}",
        clock(message.time)[:8],
        "→" if message.direction == "sent" else "←",
        _field(exchange.subject),
        _field(exchange.outcome),
    )
    padded = [text.ljust(width) for text, width in zip(columns, _WIDTHS, strict=True)]
    text = "\t".join([*padded, "" if took is None else f"{took * 1000:,.0f} ms"])
    stamp = datetime.fromtimestamp(message.time, UTC).isoformat()
    failed = " data-toolbench-failed" if exchange.is_failed else ""
    return Html(f'<div data-toolbench-message="{stamp}"{failed}>{escape(text)}</div>')


def _field(text: str) -> str:
    """Return *text* on one line, fit for a column."""
    return " ".join(text.split())
