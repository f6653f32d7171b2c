"""A long list of lines in columns. Only new and changed pieces are sent to the page.

Each line is text in columns. If the page has our JavaScript module, `frontend/src/traffic.ts` draws
the lines, even if there are very many. Without the module the page shows the text.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar

from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

# Lines of one widget
PIECE = 100
# Widgets
PIECES = 100
# Characters of each column except the last
_WIDTHS = (6, 8, 1, 40, 30)


class Numbered(Protocol):
    """A protocol: an object with a number, such as an exchange. It gets one line in the list."""

    @property
    def id(self) -> int:
        """The number of the object."""


T = TypeVar("T", bound=Numbered)


class MessageLines(Generic[T]):
    """A view of the newest lines, in pieces of many lines. Only changed pieces are sent again."""

    def __init__(
        self,
        parts: Parts,
        line: Callable[[T], Html],
        *,
        noun: str,
        nothing: str,
        pieces: int = PIECES,
    ) -> None:
        """Make an empty list of lines.

        Args:
            parts: The factory of the widgets.
            line: A function that returns the line of an item; see `columns`.
            noun: The word for one item, as in "3 messages".
            nothing: The text if there are no items.
            pieces: The maximum number of pieces; older lines are dropped.
        """
        self._parts, self._line, self._noun = parts, line, noun
        self._nothing, self._most = notice(nothing, "neutral"), pieces
        self._pieces: list[list[T]] = []
        self._widgets: list[Any] = []
        self._place: dict[int, list[T]] = {}
        self._dropped = 0
        self._head = parts.html(self._nothing)
        self._box = parts.column(kind="toolbench-lines")
        self._box.tabbable = True
        self.widgets = [self._head, self._box]
        """The widgets to show, one below the other."""

    def shows(self, items: Sequence[T]) -> bool:
        """Return whether *items* are all the items of the list, in this order."""
        numbers = (item.id for piece in self._pieces for item in piece)
        return not self._dropped and [item.id for item in items] == list(numbers)

    def restart(self, items: Iterable[T]) -> None:
        """Replace all earlier items by *items*."""
        old = self._widgets
        self._pieces, self._widgets, self._place, self._dropped = [], [], {}, 0
        self.add(items)
        self._parts.drop(old)

    def add(self, items: Iterable[T]) -> None:
        """Show *items*: update items that are shown already, and add new items at the end."""
        changed: dict[int, list[T]] = {}
        for item in items:
            piece = self._place.get(item.id)
            if piece is None:
                if not self._pieces or len(self._pieces[-1]) == PIECE:
                    self._pieces.append([])
                piece = self._pieces[-1]
                piece.append(item)
                self._place[item.id] = piece
            changed[id(piece)] = piece
        self._trim()
        self._send(changed)

    def _trim(self) -> None:
        extra = max(0, len(self._pieces) - self._most)
        for piece in self._pieces[:extra]:
            self._dropped += len(piece)
            for item in piece:
                del self._place[item.id]
        old, self._widgets = self._widgets[:extra], self._widgets[extra:]
        self._pieces = self._pieces[extra:]
        if old:
            self._arrange()
            self._parts.drop(old)

    def _send(self, changed: dict[int, list[T]]) -> None:
        for index, piece in enumerate(self._pieces):
            if index == len(self._widgets):
                self._widgets.append(self._parts.html())
            if id(piece) in changed:
                put(self._widgets[index], self._piece_html(piece))
        self._arrange()

    def _arrange(self) -> None:
        newest_first = tuple(reversed(self._widgets))
        if self._box.children != newest_first:
            self._box.children = newest_first
        text = f"{counted(self._dropped, f'earlier {self._noun}')} not shown"
        dim = f'<span class="toolbench-dim">{text}</span>' if self._dropped else ""
        put(self._head, Html(dim) if self._pieces else self._nothing)

    def _piece_html(self, piece: list[T]) -> Html:
        lines = "".join(map(self._line, piece))
        return Html(f'<div {NO_MATHS} data-toolbench-messages="{piece[0].id}">{lines}</div>')


def columns(texts: Sequence[str], *, at: float, is_failed: bool) -> Html:
    """Return one line with six columns: number, time, direction, subject, outcome, duration.

    Args:
        texts: The texts of the six columns.
        at: The time of the event, in seconds since the epoch.
        is_failed: Whether the line is drawn as a failure.
    """
    fields = [_field(text) for text in texts]
    padded = [text.ljust(width) for text, width in zip(fields[:-1], _WIDTHS, strict=True)]
    text = "\t".join([*padded, fields[-1]])
    stamp = datetime.fromtimestamp(at, UTC).isoformat()
    failed = " data-toolbench-failed" if is_failed else ""
    return Html(f'<div data-toolbench-message="{stamp}"{failed}>{escape(text)}</div>')


def _field(text: str) -> str:
    """Return *text* on one line, as a column needs it."""
    return " ".join(text.split())
