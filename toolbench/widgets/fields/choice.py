"""Editors to choose one of several known values, or no value."""

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar

from ipywidgets import Checkbox, Combobox, Dropdown, RadioButtons, Widget

from toolbench.errors import did_you_mean
from toolbench.jsonschema.node import Node, lists_null
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.text.text_box import TextBox, UnreadableError
from toolbench.widgets.fields.unset import UNSET

_YES_NO = {True: "yes", False: "no"}


def values_of(node: Node) -> list[Any]:
    """Return the values of *node*: its constant, its enum, null, or true and false.

    Raises:
        ValueError: If *node* has no list of values.
    """
    values = [None] if node.type == "null" and not node.values else node.choices
    if not values:
        msg = "the schema lists no values"
        raise ValueError(msg)
    return values


def labels_of(node: Node, values: Sequence[Any]) -> list[str]:
    """Return a label for each of the *values* of *node*; no two labels are equal."""
    names = node.value_names
    if len(names) != len(values):
        names = [""] * len(values)
    return _told_apart([notes.option(v, name) for v, name in zip(values, names, strict=True)])


def _told_apart(labels: list[str]) -> list[str]:
    many = Counter(labels)
    if len(many) == len(labels):
        return labels
    counts: Counter[str] = Counter()
    distinct = []
    for label in labels:
        counts[label] += 1
        distinct.append(f"{label} ({counts[label]})" if many[label] > 1 else label)
    return distinct


class Choice(Editor):
    """A Dropdown to choose one of the values, no value, or null if the schema allows null.

    A required constant is chosen from the start.
    """

    kind: ClassVar[type[Widget]] = Dropdown
    classes: ClassVar[tuple[str, ...]] = ("tb-field", "tb-short")
    owns_null = True
    is_short = True
    missing = "choose one"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._values = values_of(self.node)
        if slot.node.nullable:
            self._values.append(None)
        # Null is the last of the values
        self._offers_null = slot.node.nullable
        only = len(self._values) == 1 and slot.required
        self._index: int | None = 0 if only else None

    def read(self) -> Any:
        """Return the chosen value; `UNSET` if no value is chosen."""
        return UNSET if self._index is None else deepcopy(self._values[self._index])

    def write(self, value: Any) -> bool:
        """Choose *value*; return False if it is not one of the known values."""
        for index, known in enumerate(self._values):
            if same_json(known, value):
                self._choose(index)
                return True
        return False

    def clear(self) -> None:
        """Choose nothing."""
        self._choose(None)

    @property
    def static(self) -> str:
        """The label of a required constant, which is shown without a list; empty in other cases."""
        only = len(self._values) == 1 and self._index == 0 and self.slot.required
        return labels_of(self.node, self._values)[0] if only else ""

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The list of values; empty for a required constant."""
        return () if self.static else super().cells

    @property
    def _lines_before(self) -> int:
        """The number of lines before the first value. One line stands for no value."""
        return 1

    @property
    def _line(self) -> int | None:
        """The index of the chosen line; None if no line is chosen."""
        before = self._lines_before
        if self._index is None:
            return 0 if before else None
        return self._index + before

    def _choose(self, index: int | None) -> None:
        self._index = index
        if self._widget is not None:
            self._widget.index = self._line

    def _picked(self) -> None:
        picked, before = self.widget.index, self._lines_before
        self._index = None if picked is None or picked < before else picked - before

    def build(self) -> Widget:
        """Make the widget: a list of the values."""
        widget = self.make(
            self.kind,
            *self.classes,
            *self.slot.classes,
            description=notes.label(self.slot.label),
            options=self._lines(),
            index=self._line,
        )
        self.hear(widget, "index", self._picked)
        return widget

    def _lines(self) -> list[tuple[str, int]]:
        """Return the lines of the list, each with its label and its number."""
        nothing = [self.nothing_chosen] * self._lines_before
        own = [f'"{label}"' if label in nothing else label for label in self.labels()]
        labels = [*nothing, *_told_apart(own)]
        if self._offers_null:
            labels.append("null")
        return list(zip(labels, range(len(labels)), strict=True))

    def labels(self) -> list[str]:
        """Return the labels of the values, without null."""
        return labels_of(self.node, self._values_to_list())

    def _values_to_list(self) -> list[Any]:
        return self._values[:-1] if self.slot.node.nullable else self._values


class Segments(Choice):
    """Buttons for a few short values, all visible.

    An optional value has a button for no value; a required value has none. For most tools, null
    and no value mean the same. So an optional value has a button for null only if the schema
    lists null, or if null was chosen before.
    """

    kind = RadioButtons
    classes = ("tb-field", "tb-short", "tb-switch")

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        is_needed = slot.starred or lists_null(slot.node)
        self._offers_null = slot.node.nullable and is_needed

    def _choose(self, index: int | None) -> None:
        is_null = self.slot.node.nullable and index == len(self._values) - 1
        if is_null and not self._offers_null:
            self._offers_null = True
            if self._widget is not None:
                self._widget.options = self._lines()
        super()._choose(index)

    @property
    def _lines_before(self) -> int:
        return 0 if self.slot.required else 1


class Switch(Segments):
    """Buttons for yes, no, and no value."""

    @property
    def nothing_chosen(self) -> str:
        """The label of the button for no value."""
        default = self.slot.default
        if isinstance(default, bool):
            return f"default: {_YES_NO[default]}"
        return super().nothing_chosen

    def labels(self) -> list[str]:
        """Return the words for true and false."""
        return [_YES_NO[value] for value in self._values_to_list()]


class Tick(Editor):
    """A Checkbox for a boolean, for example for an item of a list."""

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._value: Any = False if slot.settled else UNSET

    def read(self) -> Any:
        """Return True, False, or `UNSET` if there is no value."""
        return self._value

    def write(self, value: Any) -> bool:
        """Tick the box if *value* is True, else untick it; return False if *value* is not a boolean."""
        if not isinstance(value, bool):
            return False
        self._put(value)
        return True

    def clear(self) -> None:
        """Set no value; the box is not ticked."""
        self._put(UNSET)

    def _put(self, value: Any) -> None:
        self._value = value
        if self._widget is not None:
            self._widget.value = value is True

    def _ticked(self) -> None:
        self._value = bool(self.widget.value)

    def build(self) -> Widget:
        """Make the checkbox."""
        widget = self.make(
            Checkbox,
            "tb-tick",
            *self.slot.classes,
            description=notes.label(self.slot.label),
            value=self._value is True,
            indent=False,
        )
        self.hear(widget, "value", self._ticked)
        return widget


class Search(TextBox):
    """An editor for one of very many values. A person types a part of a value, then picks it."""

    kind = Combobox
    nothing = "type to search"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        values = values_of(self.node)
        self._known = dict(zip(labels_of(self.node, values), values, strict=True))

    def parse(self, text: str) -> Any:
        """Return the value with the label *text*.

        Raises:
            UnreadableError: If no value has this label.
        """
        if text in self._known:
            return deepcopy(self._known[text])
        hint = did_you_mean(text, self._known)
        msg = f"{text!r:.60} is none of the {len(self._known)} values.{hint}"
        raise UnreadableError(msg)

    def render(self, value: Any) -> str | None:
        """Return the label of *value*; None if it is not one of the known values."""
        return next((k for k, known in self._known.items() if same_json(known, value)), None)

    def options(self) -> dict[str, Any]:
        """Return the trait `options` of the widget: all labels."""
        return {"options": tuple(self._known)}
