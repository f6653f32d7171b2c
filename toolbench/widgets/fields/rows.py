"""The editors of lists, maps and tuples. Each item, or key with its value, is on one line."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from ipywidgets import Button, Combobox, Text, ToggleButtons, Widget

from toolbench.display.escape import Html
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container, Entry
from toolbench.widgets.fields.slot import Slot, State
from toolbench.widgets.fields.text_box import Area, is_showable

# Shown at once
_LINES = 20
_UP, _DOWN, _REMOVE = range(3)
_ACTIONS = ("Move up", "Move down", "Remove")


class Listing(Container):
    """The base class of containers in which the user adds and removes lines, each with one field.

    Without a value, there is only the button that adds a line. Of a long value, only the first
    lines are shown until the user clicks a button. If the user removes the last line, the empty
    list is sent. The button "Do not send it" makes the field unset again.
    """

    missing = "add at least one"
    starts_empty = True
    emptied: ClassVar[str] = "an empty list is sent"

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self.rows: list[Slot] = []
        self._whole = False
        # The widgets beside each line's value, made when the line is first shown
        self._beside: dict[Slot, tuple[Any, ...]] = {}

    @abstractmethod
    def line(self, row: Slot) -> Entry:
        """Return the line for the field *row*, with the buttons that change this line."""

    @abstractmethod
    def new(self) -> Slot:
        """Return a field for an additional line."""

    @abstractmethod
    def make_beside(self, row: Slot) -> tuple[Any, ...]:
        """Make the widgets beside the value of *row*."""

    def beside(self, row: Slot) -> tuple[Any, ...]:
        """Return the widgets beside the value of *row*."""
        if row not in self._beside:
            self._beside[row] = self.make_beside(row)
        return self._beside[row]

    def row_of(self, widget: Widget) -> Slot:
        """Return the line that has *widget* beside its value."""
        return next(row for row, widgets in self._beside.items() if widget in widgets)

    def clear(self) -> None:
        """Remove every line."""
        self.drop(self.rows)
        self.stale()

    def slots(self) -> Iterable[Slot]:
        """Return the fields of the values."""
        return tuple(self.rows)

    def drop(self, rows: Iterable[Slot]) -> None:
        """Remove *rows* and close them."""
        for row in tuple(rows):
            self.rows.remove(row)
            self.frame.pool.drop(self._beside.pop(row, ()))
            row.close()

    def entries(self) -> Iterable[Entry]:
        """Yield the lines, then the buttons that show all lines and add a line."""
        visible_rows = self.rows
        if not self._whole:
            visible_rows = self.rows[:_LINES]
        for row in visible_rows:
            yield self.line(row)
        if len(visible_rows) < len(self.rows):
            words = f"Show all {len(self.rows)}"
            more = self.button("rest", words, self._show_all, "tb-add")
            yield Entry(Html(""), (more,), Html(""))
        yield Entry(Html(""), self._ends(), Html(""))

    def _ends(self) -> tuple[Any, ...]:
        """Return the buttons below the lines: one adds a line.

        If the field is null or an empty value is sent, a second button makes it unset again.
        """
        slot, ends = self.slot, (self._adder(),)
        if slot.required or not (slot.is_null or self._is_emptied):
            return ends
        return (*ends, self.button("back", "Do not send it", self._take_back, "tb-add"))

    def _adder(self) -> Any:
        words = f"Add to {notes.line(self.slot.label)}"
        add = self.button("add", words, self._add, "tb-add", "tb-plus")
        most = self.node.limit("maxItems")
        add.disabled = most is not None and len(self.rows) >= most
        return add

    @property
    def is_button(self) -> bool:
        """Whether only the button that adds a line is shown, because there is no value yet."""
        return not (self.built or self.rows or self.slot.is_set)

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The lines or, if there is no value, the button that adds the first line."""
        if self.is_button:
            return self._ends()
        return super().cells

    @property
    def _is_emptied(self) -> bool:
        return self.slot.is_set and not self.rows

    @property
    def hint(self) -> str:
        """The default, or a note that an empty value is sent."""
        if self._is_emptied:
            return self.emptied
        return super().hint

    def _take_back(self) -> None:
        self.slot.choose(State.UNSET)
        self.frame.focus(lambda: (self._adder(),))

    def _show_all(self) -> None:
        self._whole = True
        self.stale()

    def _add(self) -> None:
        if not self.slot.is_set:
            self.slot.begin()
        row = self.new()
        row.unfold()
        self.rows.append(row)
        # A new line of text is an empty string
        if row.node.type == "string" and isinstance(row.editor, Area):
            row.write("")
        self._whole = True
        self.slot.open()
        row.touch()
        self.frame.focus(lambda: self.line(row).cells)

    def take_out(self, row: Slot) -> None:
        """Remove *row* after a click, and move the cursor to the button that adds a line."""
        self.drop([row])
        self.slot.open()
        self.frame.focus(lambda: (self._buttons["add"],))


class Rows(Listing):
    """The editor of a list, with a field for each item."""

    classes = ("tb-rows",)

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the field of each item, and return the results that are not `UNSET`."""
        return _values(self.rows, part)

    def write(self, value: Any) -> bool:
        """Show a line for each item; return False if *value* is not a list."""
        if not isinstance(value, list):
            return False
        self.drop(self.rows[len(value) :])
        for place, item in enumerate(value):
            if place == len(self.rows):
                self.rows.append(self.new())
            self.rows[place].write(item)
        self.stale()
        return True

    def new(self) -> Slot:
        """Return a field for an additional item."""
        place = len(self.rows)
        node = self.node.items or self.node.view.anything
        label = notes.item_label(self.slot.label, place)
        return Slot(self.frame, node, place, parent=self, label=label, settled=True)

    def child(self, step: Any) -> Slot | None:
        """Return the field of the item at the index *step*; None if there is no such item."""
        return _item(self.rows, step)

    def line(self, row: Slot) -> Entry:
        """Return the line of the item in *row*, with buttons to move and remove it."""
        head, cells, note, _ = row.display.entry()
        return Entry(head, (*cells, *self.beside(row)), note)

    def make_beside(self, row: Slot) -> tuple[Any, ...]:
        """Make the buttons to move and remove the item in *row*."""
        bar = self.make(
            ToggleButtons,
            "tb-actions",
            options=_ACTIONS,
            icons=["arrow-up", "arrow-down", "times"],
            tooltips=_tooltips(row),
            index=None,
        )
        self.hear(bar, "index", lambda: self._acted(row, bar))
        return (bar,)

    def _acted(self, row: Slot, bar: Any) -> None:
        action, place = bar.index, self.rows.index(row)
        # So that the same button can be clicked again
        bar.index = None
        if action == _REMOVE:
            self.take_out(row)
        elif action == _UP:
            self._move(row, max(place - 1, 0))
        elif action == _DOWN:
            self._move(row, place + 1)
        for place, slot in enumerate(self.rows):
            slot.rename(place, notes.item_label(self.slot.label, place))
            for own_bar in self._beside.get(slot, ()):
                own_bar.tooltips = _tooltips(slot)
        self.slot.open()

    def _move(self, row: Slot, place: int) -> None:
        """Move *row* to *place*, and the cursor with it, because the page redraws both lines."""
        self.rows.remove(row)
        self.rows.insert(place, row)
        self.frame.focus(lambda: self.line(row).cells)


def _tooltips(row: Slot) -> list[str]:
    return [f"{action} {notes.line(row.label)}" for action in _ACTIONS]


def _values(slots: Iterable[Slot], part: Callable[[Slot], Any]) -> list[Any]:
    values = map(part, slots)
    return [value for value in values if value is not UNSET]


def _item(items: Sequence[Slot], step: Any) -> Slot | None:
    if type(step) is not int or not 0 <= step < len(items):
        return None
    return items[step]


class Positions(Container):
    """The editor of a tuple, with a field for each position. It cannot hold more items."""

    classes = ("tb-pairs",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._items: list[Slot] = []
        for place, node in enumerate(self.node.prefix_items):
            label = node.own_title or notes.item_label(slot.label, place)
            item = Slot(self.frame, node, place, parent=self, label=label, required=True)
            self._items.append(item)

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for each position's field, and return the results that are not `UNSET`."""
        return _values(self._items, part)

    @property
    def trouble(self) -> str:
        """The error if a position is empty although a later one has a value; otherwise "".

        A list cannot have a gap: each later value would move to an earlier position.
        """
        gap: Slot | None = None
        for item in self._items:
            if item.read() is UNSET:
                gap = gap or item
            elif gap is not None and not gap.troubles():
                return f"{notes.line(gap.label)} has no value yet."
        return ""

    def write(self, value: Any) -> bool:
        """Show the list *value*. Return False if *value* is not a list, or has too many items."""
        if not isinstance(value, list) or len(value) > len(self._items):
            return False
        missing = [UNSET] * (len(self._items) - len(value))
        for item, part in zip(self._items, [*value, *missing], strict=True):
            item.write(part)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove the value of every position."""
        self.write([])

    def slots(self) -> Iterable[Slot]:
        """Return the fields of the positions."""
        return tuple(self._items)

    def child(self, step: Any) -> Slot | None:
        """Return the field of the position *step*; None if there is no such position."""
        return _item(self._items, step)

    def entries(self) -> Iterable[Entry]:
        """Yield the lines of the positions."""
        for item in self._items:
            yield item.display.entry()


class Map(Listing):
    """The editor of a map, with a line for each key and its value."""

    classes = ("tb-map",)
    emptied = "an empty object is sent"

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        # The keys that the schema lists
        self._names: tuple[str, ...] = ()
        if self.node.key_names is not None:
            self._names = tuple(filter(_is_plain_key, self.node.key_names.values))

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the field of each value, and return a dict of the results."""
        values = {}
        for row in self.rows:
            value = part(row)
            if value is not UNSET:
                values[row.key] = value
        return values

    @property
    def trouble(self) -> str:
        """An error if two lines have the same key; empty otherwise."""
        keys = set()
        for row in self.rows:
            if row.key in keys:
                return f"The key {notes.option(row.key)} is there twice."
            keys.add(row.key)
        return ""

    def write(self, value: Any) -> bool:
        """Show a line for each key of *value*.

        Return False if *value* is not a dict, or if a key does not fit into a text box.
        """
        if not isinstance(value, dict) or not all(map(_is_plain_key, value)):
            return False
        if list(value) != [row.key for row in self.rows]:
            self.drop(self.rows)
            self.rows = list(map(self._row, value))
        for row, item in zip(self.rows, value.values(), strict=True):
            row.write(item)
        self.stale()
        return True

    def new(self) -> Slot:
        """Return a field for an additional key: the next one in the schema, or an empty key."""
        keys = {row.key for row in self.rows}
        return self._row(next((name for name in self._names if name not in keys), ""))

    def _row(self, key: str) -> Slot:
        node = self.node.of_other_key(key) or self.node.view.anything
        return Slot(self.frame, node, key, parent=self, label="value", settled=True)

    def child(self, step: Any) -> Slot | None:
        """Return the field of the value under the key *step*; None if there is no such key."""
        return next((row for row in self.rows if row.key == step), None)

    def line(self, row: Slot) -> Entry:
        """Return the line of *row*: the key, the value and the button that removes both."""
        _, cells, note, _ = row.display.entry()
        key, remover = self.beside(row)
        return Entry(Html(""), (key, *cells, remover), note)

    def make_beside(self, row: Slot) -> tuple[Any, ...]:
        """Make the text box with the key of *row*, and the button that removes the line."""
        kind: type[Widget] = Text
        options: dict[str, Any] = {}
        if self._names:
            kind = Combobox
            options["options"] = self._names
        key = self.make(kind, "tb-field", "tb-key", description="key", value=row.key, **options)
        remover = self.make(
            Button, "tb-actions", description="Remove", icon="times", tooltip=_remove(row.key)
        )
        self.hear(key, "value", lambda: self._renamed(key, remover))
        self.hear(remover, "", lambda: self.take_out(self.row_of(remover)))
        return key, remover

    def _renamed(self, key: Any, remover: Any) -> None:
        row, other = self.row_of(key), self._row(key.value)
        if not same_json(other.node.raw, row.node.raw) or _wants_another_editor(row, other):
            self._replace(row, other)
        else:
            row.rename(key.value, "value")
        remover.tooltip = _remove(key.value)
        self.slot.open()

    def _replace(self, row: Slot, other: Slot) -> None:
        """Replace *row* with *other*, which has the new key and another editor. Keep the value."""
        other.write(row.read())
        self.rows.insert(self.rows.index(row), other)
        # The user still types in the box of the key
        self._beside[other] = self._beside.pop(row)
        self.drop([row])


def _remove(key: str) -> str:
    return f"Remove {notes.option(key)}"


def _wants_another_editor(row: Slot, other: Slot) -> bool:
    """Return whether a line needs another editor after a change of its key.

    *row* is the line with the old key, and *other* the line with the new key. A key that is the
    name of a secret needs a password box. If the new key is no longer such a name, the box is
    replaced only while it is empty. For example, a user who types `tokenizer` first types `token`.
    """
    return row.secret != other.secret and (other.secret or not row.read())


def _is_plain_key(key: Any) -> bool:
    return isinstance(key, str) and is_showable(key) and "\n" not in key
