"""A list of anything: one line for each item, with buttons to move and remove it."""

from collections.abc import Callable, Iterable
from typing import Any

from ipywidgets import Button, ToggleButtons, Widget

from toolbench.display.escape import Html
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot

_UP, _DOWN, _REMOVE = range(3)


class Rows(Container):
    """Shows each item of a list as a field."""

    classes = ("tb-rows",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._items: list[Slot] = []
        self._bars: dict[Slot, Widget] = {}
        self._add: Widget | None = None

    # --- the value ----------------------------------------------------------------

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Return the list of the items that have a value."""
        there = [part(item) for item in self._items]
        return [value for value in there if value is not UNSET]

    def write(self, value: Any) -> bool:
        """Show one line for each item."""
        if not isinstance(value, list):
            return False
        self._drop(self._items[len(value) :])
        del self._items[len(value) :]
        for place, item in enumerate(value):
            if place == len(self._items):
                self._items.append(self._item(place))
            self._items[place].write(item)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove every item."""
        self.write([])

    def send_empty(self) -> bool:
        """Send `[]`."""
        return self.write([])

    # --- the items ------------------------------------------------------------------

    def _item(self, place: int) -> Slot:
        return Slot(
            self.frame,
            self.schema.get("items", {}),
            place,
            parent=self,
            label=f"{self.slot.label}[{place}]",
            settled=True,
        )

    def slots(self) -> Iterable[Slot]:
        """Give the items."""
        return tuple(self._items)

    def child(self, step: Any) -> Slot | None:
        """Return the item at the index *step*."""
        if isinstance(step, bool) or not isinstance(step, int):
            return None
        return self._items[step] if 0 <= step < len(self._items) else None

    def _appended(self) -> None:
        least = self.schema.get("minItems")
        wanted = least if isinstance(least, int) and not self._items else 1
        for _ in range(max(1, min(wanted, 20))):
            item = self._item(len(self._items))
            self._items.append(item)
            if item.node.schema.get("type") == "string":
                item.send_empty()  # a new line of text is an empty text
        self.slot.open()

    def _acted(self, item: Slot) -> None:
        bar = self._bars[item]
        action, place = bar.index, self._items.index(item)
        bar.index = None  # so that the same button can be clicked again
        if action == _REMOVE:
            self._drop([item])
            self._items.remove(item)
        elif action is not None:
            goal = place - 1 if action == _UP else place + 1
            self._items.insert(max(goal, 0), self._items.pop(place))
        for place, slot in enumerate(self._items):
            slot.rename(place, f"{self.slot.label}[{place}]")
        self.slot.open()

    def _drop(self, items: Iterable[Slot]) -> None:
        for item in items:
            item.close()
            bar = self._bars.pop(item, None)
            if bar is not None:
                self.frame.pool.drop((bar,))

    # --- what is shown ----------------------------------------------------------------

    def entries(self) -> Iterable[Entry]:
        """Give the items, and the button that adds one."""
        for item in self._items:
            head, cells, note = item.entry()
            yield Entry(head, (*cells, self._bar(item)), note)
        if self._add is None:
            name = notes.line(self.slot.label)
            self._add = self.make(Button, "tb-add", description=f"Add to {name}")
            self.hear(self._add, "", self._appended)
        most = self.schema.get("maxItems")
        self._add.disabled = isinstance(most, int) and len(self._items) >= most
        yield Entry(Html(""), (self._add,), Html(""))

    def _bar(self, item: Slot) -> Widget:
        if item not in self._bars:
            bar = self.make(
                ToggleButtons,
                "tb-actions",
                options=["Move up", "Move down", "Remove"],
                icons=["arrow-up", "arrow-down", "times"],
                tooltips=["Move up", "Move down", "Remove"],
                index=None,
            )
            self.hear(bar, "index", lambda: self._acted(item))
            self._bars[item] = bar
        return self._bars[item]


class Positions(Container):
    """A tuple: a field for each position, and then a list of the rest, where there may be one."""

    classes = ("tb-rows",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._items = [
            Slot(
                self.frame,
                schema,
                place,
                parent=self,
                label=_title(schema) or f"{slot.label}[{place}]",
                required=True,
            )
            for place, schema in enumerate(self.schema["prefixItems"])
        ]

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Return the list as far as its positions have values."""
        there = [part(item) for item in self._items]
        return [value for value in there if value is not UNSET]

    @property
    def trouble(self) -> str:
        """A position left out would move all that follow."""
        there = [item.read() is not UNSET for item in self._items]
        if not any(there):
            return ""
        last = len(there) - there[::-1].index(True)
        gap = next((i for i in range(last) if not there[i]), None)
        if gap is None or any(True for _ in self._items[gap].troubles()):
            return ""
        return f"{notes.line(self._items[gap].label)} has no value yet."

    def write(self, value: Any) -> bool:
        """Show a list that is no longer than the positions."""
        if not isinstance(value, list) or len(value) > len(self._items):
            return False
        for place, item in enumerate(self._items):
            item.write(value[place] if place < len(value) else UNSET)
        self.stale()
        return True

    def clear(self) -> None:
        """Empty every position."""
        self.write([])

    def send_empty(self) -> bool:
        """Send `[]`."""
        return self.write([])

    def slots(self) -> Iterable[Slot]:
        """Give the positions."""
        return tuple(self._items)

    def child(self, step: Any) -> Slot | None:
        """Return the position *step*."""
        if isinstance(step, bool) or not isinstance(step, int):
            return None
        return self._items[step] if 0 <= step < len(self._items) else None

    def entries(self) -> Iterable[Entry]:
        """Give the positions."""
        for item in self._items:
            yield item.entry()


def _title(schema: Any) -> str:
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else ""
