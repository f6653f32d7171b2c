"""The editor of a map: a person types keys, and a value for each key."""

from collections.abc import Iterable
from typing import Any, ClassVar

from ipywidgets import Button, Combobox, Text, Widget

from toolbench.display.escape import Html
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.containers.growing_list import Listing
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.text_box import is_showable


class Map(Listing):
    """The editor of a map, with a line for each key and its value."""

    classes = ("tb-map",)
    empty: ClassVar[Any] = {}

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._keys: dict[Slot, Any] = {}
        self._removers: dict[Slot, Widget] = {}
        self._names = _allowed_keys(slot)

    def join(self, pairs: Iterable[tuple[Any, Any]]) -> Any:
        """Return the dict of *pairs*."""
        return dict(pairs)

    @property
    def trouble(self) -> str:
        """An error if two lines have the same key; "" if there is no error."""
        keys = [row.key for row in self.rows]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        return "" if twice is None else f"The key {notes.option(twice)} is there twice."

    def write(self, value: Any) -> bool:
        """Show a line for each key of *value*.

        Return False if *value* is not a dict, or if a key does not fit into a text box.
        """
        if not isinstance(value, dict) or not all(map(_is_plain_key, value)):
            return False
        if list(value) != [row.key for row in self.rows]:
            self.drop(self.rows)
            self.rows = [self._row(key) for key in value]
        for row, item in zip(self.rows, value.values(), strict=True):
            row.value.write(item)
        self.stale()
        return True

    def new(self) -> Slot:
        """Return a slot for one more key: the next key that the schema lists, or an empty key."""
        keys = {row.key for row in self.rows}
        return self._row(next((name for name in self._names if name not in keys), ""))

    def _row(self, key: str) -> Slot:
        return Slot(
            self.frame,
            self.node.of_other_key(key) or self.node.view.anything,
            key,
            parent=self,
            label="value",
            settled=True,
        )

    def child(self, step: Any) -> Slot | None:
        """Return the slot of the value under the key *step*; None if there is no such key."""
        return next((row for row in self.rows if row.key == step), None)

    def line(self, row: Slot) -> Entry:
        """Return the line of *row*: the key, the value and the button that removes both."""
        _, cells, note, _ = row.display.entry()
        return Entry(Html(""), (self._key(row), *cells, self._remover(row)), note)

    def _key(self, row: Slot) -> Widget:
        if row not in self._keys:
            kind = Combobox if self._names else Text
            extra = {"options": self._names} if self._names else {}
            box = self.make(kind, "tb-field", "tb-key", description="key", value=row.key, **extra)
            self.hear(box, "value", lambda: self._renamed(box))
            self._keys[row] = box
        return self._keys[row]

    def _renamed(self, box: Widget) -> None:
        row = next(row for row, key in self._keys.items() if key is box)
        other = self._row(box.value)
        if not same_json(other.node.raw, row.node.raw) or _wants_another_editor(row, other):
            self._replace(row, other)
        else:
            row.rename(box.value, "value")
        self.slot.open()

    def _replace(self, row: Slot, other: Slot) -> None:
        """Replace *row* by *other*, which has the new key and another editor; keep the value."""
        other.value.write(row.value.read())
        self.rows[self.rows.index(row)] = other
        # A person still types in this box
        self._keys[other] = self._keys.pop(row)
        self.drop([row])

    def _remover(self, row: Slot) -> Widget:
        tooltip = f"Remove {notes.option(row.key)}"
        if row not in self._removers:
            button = self.make(
                Button,
                "tb-actions",
                description="Remove",
                icon="times",
                tooltip=tooltip,
            )
            self.hear(button, "", lambda: self.take_out(row))
            self._removers[row] = button
        if self._removers[row].tooltip != tooltip:
            self._removers[row].tooltip = tooltip
        return self._removers[row]

    def forget(self, row: Slot) -> None:
        """Close the text box with the key of *row*, and its button `Remove`."""
        removed = (self._keys.pop(row, None), self._removers.pop(row, None))
        self.frame.pool.drop(widget for widget in removed if widget is not None)


def _wants_another_editor(row: Slot, other: Slot) -> bool:
    """Return whether *row* needs another editor, because its new key is the key of *other*.

    This is true if only the new key is the name of a secret. If only the old key is such a name, it
    is true only while the value is empty: a person who types `tokenizer` first types `token`.
    """
    return row.secret != other.secret and (other.secret or not row.value.read())


def _is_plain_key(key: Any) -> bool:
    return isinstance(key, str) and is_showable(key) and "\n" not in key


def _allowed_keys(slot: Slot) -> tuple[str, ...]:
    names = slot.node.key_names
    return () if names is None else tuple(filter(_is_plain_key, names.values))
