"""The editors of a list, with buttons to move and remove its items, and of a tuple."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from ipywidgets import ToggleButtons, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.containers.growing_list import Listing
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.unset import UNSET

_UP, _DOWN, _REMOVE = range(3)
_ACTIONS = ("Move up", "Move down", "Remove")


class Rows(Listing):
    """The editor of a list, with a field for each item."""

    classes = ("tb-rows",)
    empty: ClassVar[Any] = []

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._bars: dict[Slot, Any] = {}

    def join(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """Return a list of the values in *pairs*, without the keys."""
        return [value for _, value in pairs]

    def write(self, value: Any) -> bool:
        """Show a line for each item; return False if *value* is not a list."""
        if not isinstance(value, list):
            return False
        self.drop(self.rows[len(value) :])
        for place, item in enumerate(value):
            if place == len(self.rows):
                self.rows.append(self.new())
            self.rows[place].value.write(item)
        self.stale()
        return True

    def new(self) -> Slot:
        """Return a slot for one more item."""
        return Slot(
            self.frame,
            self.node.items or self.node.view.anything,
            len(self.rows),
            parent=self,
            label=notes.item_label(self.slot.label, len(self.rows)),
            settled=True,
        )

    def child(self, step: Any) -> Slot | None:
        """Return the slot of the item at the index *step*; None if there is no such item."""
        return _item(self.rows, step)

    def line(self, row: Slot) -> Entry:
        """Return the line of the item in *row*, with buttons to move and remove it."""
        head, cells, note, _ = row.display.entry()
        return Entry(head, (*cells, self._bar(row)), note)

    def _bar(self, row: Slot) -> Widget:
        tooltips = tuple(f"{action} {notes.line(row.label)}" for action in _ACTIONS)
        if row not in self._bars:
            bar = self.make(
                ToggleButtons,
                "tb-actions",
                options=_ACTIONS,
                icons=["arrow-up", "arrow-down", "times"],
                tooltips=tooltips,
                index=None,
            )
            self.hear(bar, "index", lambda: self._acted(row))
            self._bars[row] = bar
        bar = self._bars[row]
        if bar.tooltips != tooltips:
            bar.tooltips = tooltips
        return bar

    def _acted(self, row: Slot) -> None:
        bar = self._bars[row]
        action, place = bar.index, self.rows.index(row)
        # So that the same button can be clicked again
        bar.index = None
        if action == _REMOVE:
            self.take_out(row)
        elif action is not None:
            self._move(row, max(place - 1, 0) if action == _UP else place + 1)
        for place, slot in enumerate(self.rows):
            slot.rename(place, notes.item_label(self.slot.label, place))
        self.slot.open()

    def _move(self, row: Slot, place: int) -> None:
        """Move *row* to *place*. The cursor moves too, because the page draws both lines again."""
        self.rows.remove(row)
        self.rows.insert(place, row)
        self.frame.focus(lambda: self.line(row).cells)

    def forget(self, row: Slot) -> None:
        """Close the buttons of *row*."""
        if row in self._bars:
            self.frame.pool.drop((self._bars.pop(row),))


def _item(items: Sequence[Slot], step: Any) -> Slot | None:
    if isinstance(step, bool) or not isinstance(step, int):
        return None
    return items[step] if 0 <= step < len(items) else None


class Positions(Container):
    """The editor of a tuple, with a field for each position. A longer list needs another editor."""

    classes = ("tb-pairs",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._items = [
            Slot(
                self.frame,
                node,
                place,
                parent=self,
                label=node.own_title or notes.item_label(slot.label, place),
                required=True,
            )
            for place, node in enumerate(self.node.prefix_items)
        ]

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the slot of each position, and return the results that are not `UNSET`."""
        there = [part(item) for item in self._items]
        return [value for value in there if value is not UNSET]

    @property
    def trouble(self) -> str:
        """An error if a position has no value and a later one has a value; "" if there is no error.

        Without the error, the later values would move to other positions.
        """
        there = [item.value.read() is not UNSET for item in self._items]
        if not any(there):
            return ""
        last = len(there) - there[::-1].index(True)
        gap = next((i for i in range(last) if not there[i]), None)
        if gap is None or any(True for _ in self._items[gap].troubles()):
            return ""
        return f"{notes.line(self._items[gap].label)} has no value yet."

    def write(self, value: Any) -> bool:
        """Show the list *value*.

        Return False if *value* is not a list, or has more items than there are
        positions.
        """
        if not isinstance(value, list) or len(value) > len(self._items):
            return False
        for place, item in enumerate(self._items):
            item.value.write(value[place] if place < len(value) else UNSET)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove the value of every position."""
        self.write([])


    def slots(self) -> Iterable[Slot]:
        """Return the slots of the positions."""
        return tuple(self._items)

    def child(self, step: Any) -> Slot | None:
        """Return the slot of the position *step*; None if there is no such position."""
        return _item(self._items, step)

    def entries(self) -> Iterable[Entry]:
        """Yield the lines of the positions."""
        for item in self._items:
            yield item.display.entry()
