"""The base class of the editors of lists and maps. At first only some of the lines are shown."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from toolbench.display.escape import Html
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.text_box import Area
from toolbench.widgets.fields.unset import UNSET

# Shown at once
_LINES = 20


class Listing(Container):
    """The base class of containers whose lines a person adds and removes. Each line shows one slot."""

    missing = "add at least one"
    empty: ClassVar[Any]

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self.rows: list[Slot] = []
        self._whole = False

    @abstractmethod
    def line(self, row: Slot) -> Entry:
        """Return the line that shows the slot *row*, with the buttons that change this line."""

    @abstractmethod
    def new(self) -> Slot:
        """Return a slot for one more line."""

    @abstractmethod
    def forget(self, row: Slot) -> None:
        """Close the widgets on the line of *row*, except the widgets of its value."""

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the slot of each line, and combine the results that are not `UNSET`."""
        there = [(row.key, part(row)) for row in self.rows]
        return self.join((k, value) for k, value in there if value is not UNSET)

    @abstractmethod
    def join(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """Return a dict or a list, made from *pairs* of a key and a value."""

    def clear(self) -> None:
        """Remove every line."""
        self.write(type(self.empty)())


    def slots(self) -> Iterable[Slot]:
        """Return the slots of the values."""
        return tuple(self.rows)

    def drop(self, rows: Iterable[Slot]) -> None:
        """Remove *rows* and close them."""
        dropped = list(rows)
        self.rows = [row for row in self.rows if row not in dropped]
        for row in dropped:
            self.forget(row)
            row.close()

    def entries(self) -> Iterable[Entry]:
        """Yield the lines, and the buttons to show all lines and to add a line."""
        visible_rows = self.rows if self._whole else self.rows[:_LINES]
        for row in visible_rows:
            yield self.line(row)
        if len(visible_rows) < len(self.rows):
            words = f"Show all {len(self.rows)}"
            more = self.button("rest", words, self._show_all, "tb-add")
            yield Entry(Html(""), (more,), Html(""))
        words = f"Add to {notes.line(self.slot.label)}"
        add = self.button("add", words, self._add, "tb-add")
        most = self.node.limit("maxItems")
        add.disabled = most is not None and len(self.rows) >= most
        yield Entry(Html(""), (add,), Html(""))

    def _show_all(self) -> None:
        self._whole = True
        self.stale()

    def _add(self) -> None:
        row = self.new()
        row.unfold()
        self.rows.append(row)
        if row.node.type == "string" and isinstance(row.editor, Area):
            # A new line of text is an empty text
            row.value.write("")
        self._whole = True
        self.slot.open()
        row.touch()
        self.frame.focus(lambda: self.line(row).cells)

    def take_out(self, row: Slot) -> None:
        """Remove *row* after a click; move the cursor to the button that adds a line."""
        self.drop([row])
        self.slot.open()
        self.frame.focus(lambda: (self._buttons["add"],))
