"""Editors for a list of short values: the user types one per line, or marks known values."""

import re
from typing import Any, ClassVar

from ipywidgets import SelectMultiple, Textarea, Widget

from toolbench.jsonschema.words import limits
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.choice import label_with, labelled_values, value_with
from toolbench.widgets.fields.editor import UNSET, Editor, Picker
from toolbench.widgets.fields.rows import Rows
from toolbench.widgets.fields.text_box import TextBox, is_showable, read_number, write_number
from toolbench.widgets.fields.text_formats import example_of, is_known_format, words_of

_ONE_PER_LINE = "one per line"
# Characters quoted of a line
_HINT = 60
_BETWEEN = re.compile("[,;]")


def _has_several(line: str) -> bool:
    """Tell whether *line* seems to contain several values, separated by commas or semicolons."""
    parts = _BETWEEN.split(line)
    return len(parts) > 1 and all(map(str.strip, parts))


def _known(slot: Any) -> dict[str, Any]:
    """Return the values that an item can have, by label; empty if the schema lists no values."""
    item = slot.node.items
    if item is None or not item.values:
        return {}
    return labelled_values(item)


class Items(TextBox):
    """A box with one value on each line.

    A TagsInput would look better, but in JupyterLab 4.6 it does not get the Enter key.
    """

    kind = Textarea
    classes = ("tb-field", "tb-items")
    wider: ClassVar[type[Editor] | None] = Rows
    emptied = "an empty list is sent"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        # There is no schema of items if the schema of the list chose this editor by name
        self._item_node = self.node.items or self.node.view.anything
        self._known = _known(slot)
        self._format = ""
        if is_known_format(self._item_node):
            self._format = self._item_node.format

    @property
    def ghost(self) -> str:
        """The placeholder: how to type values, with the default or an example."""
        if self.slot.default == [] and not self._on_purpose:
            return f"{self.nothing} · optional"
        ghost = super().ghost
        if ghost.startswith(("default: ", "e.g. ")):
            return f"{_ONE_PER_LINE} · {ghost}"
        return ghost

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: how to type values, with an example if they have a known format."""
        if not self._format:
            return _ONE_PER_LINE
        return f"{_ONE_PER_LINE}, e.g. {example_of(self._format)}"

    @property
    def hint(self) -> str:
        """What each item must be, or a note that a line seems to contain several items."""
        if self.slot.touched:
            for line in self.text.split("\n"):
                if _has_several(line):
                    return f"“{line.strip()[:_HINT]}” is one value; for several, type one per line"
        return self._each

    @property
    def _each(self) -> str:
        """The format and the limits of each item in words; empty if there are none."""
        words = []
        if self._format:
            words.append(words_of(self._format))
        words += limits(self._item_node.schema)
        if self._known or not words:
            return ""
        return f"each: {', '.join(words)}"

    def parse(self, text: str) -> Any:
        """Return the values of the lines that are not blank.

        Raises:
            UnreadableError: If a line cannot be read as a value of the list.
        """
        lines = map(str.strip, text.split("\n"))
        return [self._item(line) for line in lines if line]

    def _item(self, line: str) -> Any:
        if self._known:
            return value_with(line, self._known)
        if self._item_node.type == "string":
            return line
        return read_number(line, self._item_node.type)

    def render(self, value: Any) -> str | None:
        """Return the items of the list *value*, one per line; None if an item is not one line."""
        if not isinstance(value, list):
            return None
        lines = []
        for item in value:
            line = self._line(item)
            if line is None:
                return None
            lines.append(line)
        return "\n".join(filter(None, lines))

    def _line(self, item: Any) -> str | None:
        if self._known:
            return label_with(item, self._known)
        if self._item_node.type != "string":
            return write_number(item)
        if not isinstance(item, str) or not is_showable(item) or "\n" in item:
            return None
        if not item or item != item.strip():
            return None
        return item


class Marks(Picker):
    """An editor for a list whose items are chosen from a few known values.

    The user marks values, and the marked values are sent in the order of the schema. The page
    (`frontend/src/chips.ts`) shows each value as a button. `picked` contains the numbers of the
    marked values. If `picked` is None, the field has no value, and the values of the default are
    shown as marked.
    """

    wider = Items
    missing = "choose one"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._known = _known(slot)
        self._default: tuple[int, ...] = ()
        if isinstance(slot.default, list) and not slot.required:
            self._default = self._numbers(slot.default) or ()

    def _numbers(self, items: list[Any]) -> tuple[int, ...] | None:
        """Return the numbers of *items* among the known values; None if they cannot be marks.

        They can if each item is known, occurs once, and has its place in the order of the schema.
        """
        labels = list(self._known)
        numbers = []
        for item in items:
            label = label_with(item, self._known)
            if label is None:
                return None
            numbers.append(labels.index(label))
        if numbers != sorted(set(numbers)):
            return None
        return tuple(numbers)

    def read(self) -> Any:
        """Return the marked values; `UNSET` if there is no value."""
        if self.picked is None:
            return UNSET
        values = list(self._known.values())
        return [values[number] for number in self.picked]

    def write(self, value: Any) -> bool:
        """Select the items of the list *value* in the widget.

        Return False, and select nothing, if an item is not one of the choices, occurs twice, or is
        not in the order of the schema.
        """
        if not isinstance(value, list):
            return False
        numbers = self._numbers(value)
        if numbers is None:
            return False
        self.pick(numbers)
        return True

    @property
    def shown(self) -> tuple[int, ...]:
        """The numbers of the marked values, or else those of the default."""
        if self.picked is not None:
            return tuple(self.picked)
        if self.slot.is_null:
            return ()
        return self._default

    def refresh(self) -> None:
        """Show the selected items in the widget.

        If the field has no value, the items of its default are selected. If the value is null, none
        is selected.
        """
        super().refresh()
        if self._widget is not None:
            self._widget.value = self.shown

    def take_pick(self) -> None:
        """Take the user's marks. If they are those of the default, the field has no value."""
        super().take_pick()
        if self.picked == self._default:
            self.picked = None

    @property
    def hint(self) -> str:
        """A note that an empty list is sent, or the default if it cannot be shown as marks."""
        if self.picked == ():
            return Items.emptied
        if self._default or self.slot.default in (UNSET, []) or self.slot.required:
            return ""
        return f"default: {notes.ghost(self.slot.default)}"

    def build(self) -> Widget:
        """Make the list of the known values."""
        options = [(label, number) for number, label in enumerate(self._known)]
        return self.field(
            SelectMultiple,
            "tb-field",
            "tb-marks",
            react=self.take_pick,
            options=options,
            value=self.shown,
            rows=min(len(self._known), 6),
        )
