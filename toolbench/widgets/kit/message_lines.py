"""A long list of lines in columns, which is sent to the page in pieces.

Only new and changed pieces are sent. If the page has our JavaScript module, `frontend/src/lines.ts`
draws the lines, even if there are very many. Without the module the page shows the newest lines as
text.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import ipywidgets as w
from traitlets import List, Unicode

from toolbench.display.css import PRE
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.widgets.kit.parts import Parts, on_pick, put
from toolbench.wording import counted

# Lines of one piece
PIECE = 100
# Pieces
PIECES = 100
# Lines on a page without the module
_NEWEST = 25


class Line(NamedTuple):
    """The columns of one line."""

    number: int
    """The number of the item, shown without its sign. No other line has the same number."""
    at: int
    """The time, in seconds since the epoch."""
    is_sent: bool
    """Whether the message, to which the other side answers, was sent from here."""
    subject: str
    outcome: str
    duration: str
    is_failed: bool
    """Whether the line is drawn as a failure."""


class Piece(w.Widget):
    """Some consecutive lines, as they are sent to the page. The piece itself is not displayed."""

    rows: Any = List().tag(sync=True)
    """The lines, each a `Line`."""


class Lines(w.VBox):
    """The widget that draws the lines. The page sends the number of the line that is picked."""

    label = Unicode().tag(sync=True)
    """The name of the list."""
    pieces: Any = List().tag(sync=True, **w.widget_serialization)
    """The pieces with the lines, oldest first."""
    picked = Unicode().tag(sync=True)
    """The number of the open line; empty if no line is open."""


class MessageLines:
    """A view of the newest lines, in pieces of many lines. Only changed pieces are sent again."""

    def __init__(
        self,
        parts: Parts,
        line: Callable[[Any], Line],
        *,
        label: str,
        opens: str,
        noun: str,
        nothing: str,
        pieces: int = PIECES,
    ) -> None:
        """Make an empty list of lines.

        Args:
            parts: The factory of the widgets.
            line: A function that returns the line for an item. An item is any object whose `id` is
                its number.
            label: The name of the list for screen readers.
            opens: The label of the field in which the user types the number of the line to open.
            noun: The word for one item, as in "3 earlier messages not shown".
            nothing: The text to show if there are no items.
            pieces: The maximum number of pieces. If there are more, the oldest are dropped.
        """
        self._parts, self._line, self._noun = parts, line, noun
        self._nothing, self._most = notice(nothing, "neutral"), pieces
        self._items: list[Any] = []
        self._pieces: list[Piece] = []
        # The place of each item among all items ever added, by the item's number
        self._places: dict[int, int] = {}
        self._dropped = 0
        self._head = parts.html(self._nothing)
        self._newest = parts.html()
        self.number = parts.make(
            w.Text,
            "toolbench-field",
            description=opens,
            placeholder="its number; then Enter",
            continuous_update=False,
        )
        """The field with the number of the open line, which the caller observes."""
        self._lines = parts.drawn(Lines, "lines", self._newest, self.number, label=label)
        self.number.observe(lambda _: self._mark(), "value")
        on_pick(self._lines, self._picked)
        self.widget = parts.column(self._head, self._lines)
        """The widget that contains the lines."""

    def _picked(self, number: str) -> None:
        self.number.value = number

    def _mark(self) -> None:
        self._lines.picked = self.number.value.strip().lstrip("#")

    def restart(self, items: Sequence[Any]) -> None:
        """Replace all earlier items with *items*."""
        if not self._dropped and list(items) == self._items:
            return
        old = self._pieces
        self._items, self._pieces, self._places, self._dropped = [], [], {}, 0
        self.add(items)
        self._parts.drop(old)

    def add(self, items: Iterable[Any]) -> None:
        """Show *items*: update those that are already shown, and add the others at the end."""
        changed = set()
        for item in items:
            if item.id not in self._places:
                self._places[item.id] = self._dropped + len(self._items)
                self._items.append(item)
            changed.add(self._places[item.id] // PIECE)
        old = self._drop_old()
        for number in sorted(changed):
            if number * PIECE >= self._dropped:
                self._send(number * PIECE - self._dropped)
        self._arrange()
        self._parts.drop(old)

    def _drop_old(self) -> list[Piece]:
        """Drop the items of the oldest pieces if there are too many, and return these pieces."""
        extra = max(0, (len(self._items) - 1) // PIECE + 1 - self._most)
        for item in self._items[: extra * PIECE]:
            del self._places[item.id]
        del self._items[: extra * PIECE]
        self._dropped += extra * PIECE
        old, self._pieces = self._pieces[:extra], self._pieces[extra:]
        return old

    def _send(self, start: int) -> None:
        """Send the piece whose first item is at *start*."""
        rows = [self._line(item) for item in self._items[start : start + PIECE]]
        index = start // PIECE
        if index < len(self._pieces):
            self._pieces[index].rows = rows
        else:
            # Jupyter's server may drop one of many simultaneous changes, but never a new widget
            self._pieces.append(Piece(rows=rows))
            self._parts.adopt(self._pieces[-1])

    def _arrange(self) -> None:
        self._lines.pieces = list(self._pieces)
        head = Html("")
        if not self._pieces:
            head = self._nothing
        elif self._dropped:
            text = f"{counted(self._dropped, f'earlier {self._noun}')} not shown"
            head = Html(f'<span class="toolbench-dim">{text}</span>')
        put(self._head, head)
        newest: list[Line] = []
        for piece in self._pieces[-2:]:
            newest += piece.rows
        put(self._newest, _as_text(newest[-_NEWEST:]))


def _as_text(lines: Sequence[Line]) -> Html:
    """Return *lines* as text, newest first."""
    texts = []
    for line in reversed(lines):
        time = datetime.fromtimestamp(line.at, UTC).astimezone()
        arrow = "←"
        if line.is_sent:
            arrow = "→"
        head = f"#{abs(line.number)} {time:%H:%M:%S} {arrow}"
        texts.append("  ".join((head, line.subject, line.outcome, line.duration)).strip())
    text = escape("\n".join(texts))
    return Html(f'<pre {NO_MATHS} style="{PRE};white-space:pre-wrap">{text}</pre>')
