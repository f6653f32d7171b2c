"""Editors with which the user chooses one of several known values, or no value."""

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar

from ipywidgets import Checkbox, Combobox, Dropdown, RadioButtons, Widget

from toolbench.errors import did_you_mean
from toolbench.jsonschema.node import Node, lists_null
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Picker, option_of
from toolbench.widgets.fields.text_box import TextBox, UnreadableError

NOTHING = -1
"""The key of the option for no value. The key of any other option is the number of a value."""
_YES_NO = {True: "yes", False: "no"}


def values_of(node: Node) -> list[Any]:
    """Return the values that *node* allows: its constant, its enum, null, or true and false.

    Raises:
        ValueError: If *node* has no list of values.
    """
    values = node.choices
    if node.type == "null" and not node.values:
        values = [None]
    if not values:
        msg = "the schema lists no values"
        raise ValueError(msg)
    return values


def labels_of(node: Node, values: Sequence[Any]) -> list[str]:
    """Return a different label for each of the *values* of *node*."""
    names = node.value_names
    if len(names) != len(values):
        names = [""] * len(values)
    return told_apart(list(map(notes.option, values, names)))


def told_apart(labels: list[str]) -> list[str]:
    """Return *labels*, with a number appended to each label that occurs more than once."""
    many = Counter(labels)
    counts: Counter[str] = Counter()
    distinct = []
    for label in labels:
        counts[label] += 1
        if many[label] > 1:
            label = f"{label} ({counts[label]})"
        distinct.append(label)
    return distinct


def labelled_values(node: Node) -> dict[str, Any]:
    """Return the values of *node* by label.

    Raises:
        ValueError: If *node* has no list of values.
    """
    values = values_of(node)
    return dict(zip(labels_of(node, values), values, strict=True))


def value_with(label: str, known: dict[str, Any]) -> Any:
    """Return a copy of the value that has *label* in *known*.

    Raises:
        UnreadableError: If no value of *known* has this label.
    """
    if label not in known:
        hint = did_you_mean(label, known)
        msg = f"{label!r:.60} is not one of the {len(known)} values.{hint}"
        raise UnreadableError(msg)
    return deepcopy(known[label])


def label_with(value: Any, known: dict[str, Any]) -> str | None:
    """Return the label of *value*; None if *value* is not in *known*."""
    return next((label for label, own in known.items() if same_json(own, value)), None)


class Choice(Picker):
    """A drop-down list with the values that the schema allows.

    The list may also offer null and "no value". `picked` is the number of the chosen value; it is
    `NOTHING` if no value is chosen. If a required field has only one possible value, this value is
    chosen from the start.

    If an optional field has a default, the default is chosen at first. While it is chosen, no value
    is sent. If the program writes a string or number that the schema does not allow, the list shows
    it as an additional choice.
    """

    kind: ClassVar[type[Widget]] = Dropdown
    classes: ClassVar[tuple[str, ...]] = ("tb-field", "tb-short")
    owns_null = True
    is_short = True
    missing = "choose one"
    blank = NOTHING

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._listed = values_of(self.node)
        self._known = list(self._listed)
        if self.node.nullable:
            self._known.append(None)
        # A written value that is none of them
        self._other: Any = UNSET
        self._default = NOTHING
        if slot.default is not UNSET and not slot.required:
            self._default = _number_of(slot.default, self._listed)
        self._offers_null = self.node.nullable
        self._offers_nothing = True
        if self._is_constant:
            self.picked = 0

    @property
    def _is_constant(self) -> bool:
        return len(self._known) == 1 and self.slot.required

    def read(self) -> Any:
        """Return the chosen value; `UNSET` if no value is chosen."""
        if self.picked == NOTHING:
            return UNSET
        return deepcopy([*self._known, self._other][self.picked])

    def write(self, value: Any) -> bool:
        """Choose *value*; return False if it cannot be shown.

        If the schema does not allow *value*, it becomes an additional choice. Such a value cannot
        be shown if it is an object or a list, or if the field is secret.
        """
        number = _number_of(value, self._known)
        if number == NOTHING:
            if isinstance(value, dict | list) or self.slot.secret:
                return False
            number, self._other = len(self._known), value
            self._show_options()
        self.pick(number)
        return True

    def clear(self) -> None:
        """Choose nothing."""
        if self._other is not UNSET:
            self._other = UNSET
            self._show_options()
        super().clear()

    @property
    def static(self) -> str:
        """The label of the value if a required field has no other; otherwise empty."""
        if not self._is_constant or self.picked != 0:
            return ""
        return labels_of(self.node, self._known)[0]

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The list of values; nothing if `static` shows the only possible value."""
        if self.static:
            return ()
        return super().cells

    @property
    def shown(self) -> Any:
        """The number of the chosen value, or else of the default; None if the list lacks it."""
        return option_of(self._widget.options, self._marked)

    @property
    def _marked(self) -> int:
        number: int = self.picked
        if number == NOTHING:
            return self._default
        return number

    def take_pick(self) -> None:
        """React to the user's pick. Picking the default, or nothing, means no value."""
        super().take_pick()
        if self.picked is None or self.picked == self._default:
            self.picked = NOTHING

    def build(self) -> Widget:
        """Make the widget: a list of the values."""
        options = self._options()
        value = option_of(options, self._marked)
        return self.field(
            self.kind, *self.classes, react=self.take_pick, options=options, value=value
        )

    def _show_options(self) -> None:
        if self._widget is not None:
            self._widget.options = self._options()

    def _options(self) -> list[tuple[str, int]]:
        """Return the options of the list, each as its label and the number of its value."""
        options: list[tuple[str, int]] = []
        labels = self.labels()
        if self._default != NOTHING:
            name = labels[self._default]
            if self.slot.default == "":
                name = "empty"
            labels[self._default] = f"{name} (default)"
            labels = told_apart(labels)
        elif self._offers_nothing:
            nothing = self.nothing_chosen
            options.append((nothing, NOTHING))
            if nothing in labels:
                labels[labels.index(nothing)] = f'"{nothing}"'
                labels = told_apart(labels)
        options += zip(labels, range(len(labels)), strict=True)
        if self._offers_null:
            options.append(("null", len(labels)))
        if self._other is not UNSET:
            options.append((f"{notes.option(self._other)} (not a choice)", len(self._known)))
        return options

    def labels(self) -> list[str]:
        """Return the labels of the values, without null."""
        return labels_of(self.node, self._listed)


def _number_of(value: Any, values: Sequence[Any]) -> int:
    """Return the index of *value* in *values*; `NOTHING` if it is not there."""
    for number, known in enumerate(values):
        if same_json(known, value):
            return number
    return NOTHING


class Segments(Choice):
    """A row of buttons for a few short values, all visible.

    An optional field without a default also has a button for no value. To most tools, null means
    the same as no value. Therefore, an optional field has a button for null only if the schema
    lists null among the values, or if the program has written null.
    """

    kind = RadioButtons
    classes = ("tb-field", "tb-short", "tb-switch")

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        is_needed = slot.starred or lists_null(slot.node)
        self._offers_null = slot.node.nullable and is_needed
        self._offers_nothing = not slot.required

    def pick(self, picked: Any) -> None:
        """Choose the value with the number *picked*. If it is null, add a button for null."""
        is_null = self.node.nullable and picked == len(self._listed)
        if is_null and not self._offers_null:
            self._offers_null = True
            self._show_options()
        super().pick(picked)


class Switch(Segments):
    """Buttons for yes, no, and no value."""

    def labels(self) -> list[str]:
        """Return the words for true and false."""
        return [_YES_NO[value] for value in self._listed]


class Tick(Picker):
    """A Checkbox for a boolean that always has a value, such as an item of a list."""

    blank = UNSET

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        if slot.settled:
            self.picked = False

    def read(self) -> Any:
        """Return True, False, or `UNSET` if there is no value."""
        return self.picked

    def write(self, value: Any) -> bool:
        """Tick the box if *value* is True, or untick it. Return False if *value* is no boolean."""
        if not isinstance(value, bool):
            return False
        self.pick(value)
        return True

    @property
    def shown(self) -> bool:
        """Whether the box is ticked. Without a value it is not."""
        return self.picked is True

    def build(self) -> Widget:
        """Make the checkbox."""
        return self.field(Checkbox, "tb-tick", react=self.take_pick, value=self.shown, indent=False)


class Search(TextBox):
    """An editor for one of very many values: the user types a part of a value, then picks one."""

    kind = Combobox
    nothing = "type to search"
    takes_others = True

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._known = labelled_values(self.node)

    def parse(self, text: str) -> Any:
        """Return the value with the label *text*.

        Raises:
            UnreadableError: If no value has this label.
        """
        return value_with(text, self._known)

    def render(self, value: Any) -> str | None:
        """Return the label of *value*; None if it is not one of the known values."""
        return label_with(value, self._known)

    def options(self) -> dict[str, Any]:
        """Return the trait `options` of the widget: all labels."""
        return {"options": tuple(self._known)}
