"""A long list of lines in columns. Only new and changed pieces are sent to the page.

If the page has our JavaScript module, `frontend/src/lines.ts` draws the lines, even if there are very
many. Without the module the page shows the newest lines as text.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import ipywidgets as w
from traitlets import List, Unicode

from toolbench.display.css import PRE
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.page import notice
from toolbench.widgets.kit.parts import Parts, on_pick, put
from toolbench.wording import counted

# Lines of one piece
PIECE = 100
# Pieces
PIECES = 100
# Lines on a page without the module
_NEWEST = 25


class Numbered(Protocol):
    """A protocol: an object with a number, such as an exchange. It gets one line in the list."""

    @property
    def id(self) -> int:
        """The number of the object."""


class Line(NamedTuple):
    """The columns of one line."""

    number: int
    at: int
    """The time, in seconds since the epoch."""
    is_sent: bool
    """Whether the first of a message and its answer went out from here."""
    subject: str
    outcome: str
    duration: str
    is_failed: bool
    """Whether the line is drawn as a failure."""


class Piece(w.Widget):
    """Some lines that follow each other, as the page has them. It is not shown itself."""

    rows: Any = List().tag(sync=True)
    """The lines, each a `Line`."""


class Lines(w.VBox):
    """What the page draws of the lines; it sends the number of the line that is picked."""

    label = Unicode().tag(sync=True)
    """The name of the list."""
    pieces: Any = List().tag(sync=True, **w.widget_serialization)
    """The lines, each a `Piece`, the oldest first."""
    picked = Unicode().tag(sync=True)
    """The number of the line that is open; empty if none is."""


T = TypeVar("T", bound=Numbered)


class MessageLines(Generic[T]):
    """A view of the newest lines, in pieces of many lines. Only changed pieces are sent again."""

    def __init__(
        self,
        parts: Parts,
        line: Callable[[T], Line],
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
            line: A function that returns the line of an item.
            label: The name of the list.
            opens: The name of the field with the number of the open line.
            noun: The word for one item, as in "3 messages".
            nothing: The text if there are no items.
            pieces: The maximum number of pieces; older lines are dropped.
        """
        self._parts, self._line, self._noun = parts, line, noun
        self._nothing, self._most = notice(nothing, "neutral"), pieces
        self._pieces: list[list[T]] = []
        self._widgets: list[Piece] = []
        self._place: dict[int, list[T]] = {}
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
        """The field with the number of the open line, which the caller observes. A pick changes it."""
        self._lines = parts.drawn(Lines, "lines", self._newest, self.number, label=label)
        self.number.observe(lambda _: self._mark(), "value")
        on_pick(self._lines, self._picked)
        self.widget = parts.column(self._head, self._lines)
        """The widget that contains the lines."""

    def _picked(self, number: str) -> None:
        self.number.value = number

    def _mark(self) -> None:
        self._lines.picked = self.number.value.strip().lstrip("#")

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
            if id(piece) not in changed:
                continue
            rows = [self._line(item) for item in piece]
            if index < len(self._widgets):
                self._widgets[index].rows = rows
                continue
            # Jupyter's server may drop a change where many are sent at once, but no new widget
            self._widgets.append(Piece(rows=rows))
            self._parts.adopt(self._widgets[-1])
        self._arrange()

    def _arrange(self) -> None:
        self._lines.pieces = list(self._widgets)
        text = f"{counted(self._dropped, f'earlier {self._noun}')} not shown"
        dim = f'<span class="toolbench-dim">{text}</span>' if self._dropped else ""
        put(self._head, Html(dim) if self._pieces else self._nothing)
        rows = [row for widget in self._widgets[-2:] for row in widget.rows]
        put(self._newest, _as_text(rows[-_NEWEST:]))


def _as_text(lines: Sequence[Line]) -> Html:
    """Return *lines* as text, the newest first."""
    texts = []
    for line in reversed(lines):
        time = datetime.fromtimestamp(line.at, UTC).astimezone()
        arrow = "→" if line.is_sent else "←"
        words = (
            f"#{line.number} {time:%H:%M:%S} {arrow}",
            line.subject,
            line.outcome,
            line.duration,
        )
        texts.append("  ".join(words).strip())
    text = escape("\n".join(texts))
    return Html(f'<pre {NO_MATHS} style="{PRE};white-space:pre-wrap">{text}</pre>')


def one_line(text: str) -> str:
    """Return *text* on one line, as a column needs it, with invisible characters spelled out."""
    return visible(" ".join(text.split()))
