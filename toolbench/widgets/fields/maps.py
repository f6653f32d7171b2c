"""A map: keys a person types, each with its value."""

from collections.abc import Callable, Iterable
from typing import Any

from ipywidgets import Button, Combobox, Text, Widget

from toolbench.core.validation import validator_of
from toolbench.display.escape import Html
from toolbench.errors import SchemaError
from toolbench.widgets.equality import same
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text import is_showable


class Map(Container):
    """Shows each key and its value on one line."""

    classes = ("tb-map",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._rows: list[
            Slot
        ] = []  # a row is the slot of its value; its key is the slot's
        self._keys: dict[Slot, Widget] = {}
        self._removers: dict[Slot, Widget] = {}
        self._add: Widget | None = None
        self._names = _allowed_keys(slot)

    # --- the value ----------------------------------------------------------------

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Return the map of the rows that have a value."""
        there = [(row.key, part(row)) for row in self._rows]
        return {key: value for key, value in there if value is not UNSET}

    @property
    def trouble(self) -> str:
        """Two rows with one key are one value too many."""
        keys = [row.key for row in self._rows]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        return "" if twice is None else f"The key {notes.option(twice)} is there twice."

    def write(self, value: Any) -> bool:
        """Show one line for each key that fits into a text box."""
        if not isinstance(value, dict) or not all(map(_is_plain_key, value)):
            return False
        if list(value) != [row.key for row in self._rows]:
            self._drop(self._rows)
            self._rows = [self._row(key) for key in value]
        for row, item in zip(self._rows, value.values(), strict=True):
            row.write(item)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove every row."""
        self.write({})

    def send_empty(self) -> bool:
        """Send `{}`."""
        return self.write({})

    # --- the rows -------------------------------------------------------------------

    def _row(self, key: str) -> Slot:
        return Slot(
            self.frame,
            self._schema_of(key),
            key,
            parent=self,
            label="value",
            settled=True,
        )

    def _schema_of(self, key: str) -> Any:
        patterns = self.schema.get("patternProperties")
        for pattern, schema in (patterns if isinstance(patterns, dict) else {}).items():
            try:  # the validator's regular expressions take linear time, Python's do not
                if validator_of({"pattern": pattern}).is_valid(key):
                    return schema
            except SchemaError:
                continue
        beside = self.schema.get("additionalProperties")
        return beside if isinstance(beside, dict) else {}

    def slots(self) -> Iterable[Slot]:
        """Give the values."""
        return tuple(self._rows)

    def child(self, step: Any) -> Slot | None:
        """Return the value under the key *step*."""
        return next((row for row in self._rows if row.key == step), None)

    def _appended(self) -> None:
        taken = {row.key for row in self._rows}
        key = next((name for name in self._names if name not in taken), "")
        row = self._row(key)
        self._rows.append(row)
        if row.node.schema.get("type") == "string":
            row.send_empty()
        self.slot.open()

    def _removed(self, row: Slot) -> None:
        self._drop([row])
        self._rows = [other for other in self._rows if other is not row]
        self.slot.open()

    def _renamed(self, box: Widget) -> None:
        row = next(row for row, key in self._keys.items() if key is box)
        key = box.value
        if not same(self._schema_of(key), row.raw):
            row = self._retyped(row, key)
        row.rename(key, "value")
        self.slot.open()

    def _retyped(self, row: Slot, key: str) -> Slot:
        """Give the value of *row* to a row of the type that *key* asks for."""
        value, other = row.read(), self._row(key)
        other.write(value)
        self._rows[self._rows.index(row)] = other
        self._keys[other] = self._keys.pop(row)  # it is still being typed into
        self._drop([row])
        return other

    def _drop(self, rows: Iterable[Slot]) -> None:
        for row in rows:
            row.close()
            gone = (self._keys.pop(row, None), self._removers.pop(row, None))
            self.frame.pool.drop(widget for widget in gone if widget is not None)

    # --- what is shown ----------------------------------------------------------------

    def entries(self) -> Iterable[Entry]:
        """Give the rows, and the button that adds one."""
        for row in self._rows:
            _, cells, note = row.entry()
            yield Entry(Html(""), (self._key(row), *cells, self._remover(row)), note)
        if self._add is None:
            name = notes.line(self.slot.label)
            self._add = self.make(Button, "tb-add", description=f"Add to {name}")
            self.hear(self._add, "", self._appended)
        yield Entry(Html(""), (self._add,), Html(""))

    def _key(self, row: Slot) -> Widget:
        if row not in self._keys:
            kind = Combobox if self._names else Text
            extra = {"options": self._names} if self._names else {}
            box = self.make(
                kind, "tb-field", "tb-key", description="key", value=row.key, **extra
            )
            self.hear(box, "value", lambda: self._renamed(box))
            self._keys[row] = box
        return self._keys[row]

    def _remover(self, row: Slot) -> Widget:
        if row not in self._removers:
            button = self.make(Button, "tb-actions", description="Remove", icon="times")
            self.hear(button, "", lambda: self._removed(row))
            self._removers[row] = button
        return self._removers[row]


def _is_plain_key(key: Any) -> bool:
    return isinstance(key, str) and is_showable(key) and "\n" not in key


def _allowed_keys(slot: Slot) -> tuple[str, ...]:
    asked = slot.node.schema.get("propertyNames")
    names = (
        slot.frame.view.node(asked).schema.get("enum") if asked is not None else None
    )
    listed = names if isinstance(names, list) else []
    return tuple(name for name in listed if _is_plain_key(name))
