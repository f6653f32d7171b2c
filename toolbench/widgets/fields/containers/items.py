"""Editors for a list of short values: a person types one value per line, or marks known values."""

import re
from typing import Any, ClassVar

from ipywidgets import Box, SelectMultiple, Textarea, Widget

from toolbench.errors import did_you_mean
from toolbench.jsonschema.words import limits
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.choice import labels_of, values_of
from toolbench.widgets.fields.containers.rows import Rows
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.form_context import OFFER
from toolbench.widgets.fields.text.text_box import (
    TextBox,
    UnreadableError,
    is_showable,
    read_number,
    write_number,
)
from toolbench.widgets.fields.text.text_formats import (
    example_of,
    is_known_format,
    words_of,
)
from toolbench.widgets.fields.unset import UNSET
from toolbench.widgets.kit.parts import show_if
from toolbench.wording import counted

_ONE_PER_LINE = "one per line"
_SEVERAL = "Ctrl-click (on a Mac ⌘-click) marks several, or none"
# Characters quoted of a line
_HINT = 60
_BETWEEN = re.compile("[,;]")


def _parts(line: str) -> list[str]:
    """Return the values between the commas and semicolons of *line*.

    Return an empty list if *line* has neither, or if a value is blank.
    """
    parts = [part.strip() for part in _BETWEEN.split(line)]
    return parts if len(parts) > 1 and all(parts) else []


def _known(slot: Any) -> dict[str, Any]:
    """Return the values that an item can have, by label; empty if the schema does not list them."""
    item = slot.node.items
    if item is None or not item.values:
        return {}
    values = values_of(item)
    return dict(zip(labels_of(item, values), values, strict=True))


class Items(TextBox):
    """A box with one value on each line.

    A TagsInput would look better, but in JupyterLab 4.6 it does not get the Enter key.
    """

    kind = Textarea
    classes = ("tb-field", "tb-items")
    wider: ClassVar[type[Editor] | None] = Rows
    emptied = "an empty list is sent"
    _stack: Widget | None = None
    _split_button: Any = None

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._type = None if self.node.items is None else self.node.items.type
        self._known = _known(slot)

    @property
    def ghost(self) -> str:
        """The placeholder: how to type values, with the default or an example."""
        if self.slot.default == [] and not self._on_purpose:
            return f"{self.nothing} · optional"
        ghost = super().ghost
        is_explained = ghost.startswith(("default: ", "e.g. "))
        return f"{_ONE_PER_LINE} · {ghost}" if is_explained else ghost

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: how to type values, with an example if they have a known format."""
        if self._format is None:
            return _ONE_PER_LINE
        return f"{_ONE_PER_LINE}, e.g. {example_of(self._format)}"

    @property
    def _format(self) -> str | None:
        """The name of the format of the items; None if they have no known format."""
        item = self.node.items
        return item.format if item is not None and is_known_format(item) else None

    # --- several values on one line -------------------------------------------------

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The box; and if a line seems to have several values, a button that splits it.

        The page makes all widgets after a new one again, and the cursor is lost if it is in one
        of them. So the button always exists, and is only hidden. It comes before the box: the Tab
        key leads from the box to the next field, as it did before the button was visible.
        """
        if self._stack is None:
            self._split_button = self.button("split", "", self._split, "tb-side", OFFER)
            children = (self._split_button, self.widget)
            self._stack = self.make(Box, "tb-offers", children=children)
            self._show_offer()
        return (self._stack,)

    def refresh(self) -> None:
        """Update the placeholder, the error mark and the offer to split, but never the text."""
        super().refresh()
        if self._stack is not None:
            self._show_offer()

    def _show_offer(self) -> None:
        words = self.offer_words
        if words:
            self.button("split", words, self._split)
        show_if(self._split_button, is_shown=bool(words))

    @property
    def offer_words(self) -> str:
        """The words of the button that splits the lines; empty if no line can be split."""
        apart = self._apart
        return "" if apart is None else f"Make {counted(len(apart), 'value')}"

    @property
    def hint(self) -> str:
        """What each item has to be; or a note about the first line that seems to have several values."""
        if self._apart is None:
            return self._each
        line = next(filter(_parts, self.text.split("\n")), "").strip()
        return f"“{line[:_HINT]}” is one value; for several, type one per line"

    @property
    def _each(self) -> str:
        """The format and the limits of each item, in words; empty if there are none."""
        item = self.node.items
        if item is None or self._known:
            return ""
        words = [] if self._format is None else [words_of(self._format)]
        words += limits(item.schema)
        return f"each: {', '.join(words)}" if words else ""

    @property
    def _apart(self) -> list[str] | None:
        """The values after a split of all lines at commas and semicolons. None if no line can be split."""
        lines = self.text.split("\n") if self.slot.touched else []
        if not any(map(_parts, lines)):
            return None
        return [part for line in lines for part in _parts(line) or [line] if part]

    def _split(self) -> None:
        self.put("\n".join(self._apart or []))
        self.slot.edited()
        self.frame.focus(lambda: (self.widget,))

    def parse(self, text: str) -> Any:
        """Return the values of the lines that are not blank.

        Raises:
            UnreadableError: If a line cannot be read as a value of the list.
        """
        return [self._item(line.strip()) for line in text.split("\n") if line.strip()]

    def _item(self, line: str) -> Any:
        if self._known:
            if line in self._known:
                return self._known[line]
            hint = did_you_mean(line, self._known)
            msg = f"{line!r:.60} is none of the {len(self._known)} values.{hint}"
            raise UnreadableError(msg)
        return line if self._type == "string" else read_number(line, self._type)

    def render(self, value: Any) -> str | None:
        """Return the items of the list *value*, one per line; None if an item is not one line."""
        if not isinstance(value, list):
            return None
        lines = [self._line(item) for item in value]
        return None if None in lines else "\n".join(line for line in lines if line)

    def _line(self, item: Any) -> str | None:
        if self._known:
            return next((k for k, known in self._known.items() if same_json(known, item)), None)
        if self._type != "string":
            return write_number(item)
        if not isinstance(item, str) or not is_showable(item) or "\n" in item:
            return None
        return item if item and item == item.strip() else None


    def close(self) -> None:
        """Close the box and its button."""
        super().close()
        self._stack = None


class Marks(Editor):
    """An editor in which a person marks some of the known values.

    Each marked value is sent once, in the order of the list.
    """

    wider = Items
    missing = "choose one"

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._known = _known(slot)
        self._places: tuple[int, ...] = ()
        self._on_purpose = False

    def read(self) -> Any:
        """Return the marked values.

        If no value is marked, return `[]` if the empty list was set, else `UNSET`.
        """
        if not self._places and not self._on_purpose:
            return UNSET
        values = list(self._known.values())
        return [values[place] for place in self._places]

    def write(self, value: Any) -> bool:
        """Mark the items of *value*.

        Return False if an item is not known, or the items are not in the order of the known values.
        """
        if not isinstance(value, list):
            return False
        known = list(self._known.values())
        places = [
            next((i for i, choice in enumerate(known) if same_json(choice, item)), -1)
            for item in value
        ]
        if -1 in places or places != sorted(set(places)):
            return False
        self._on_purpose = not places
        self._mark(tuple(places))
        return True

    def clear(self) -> None:
        """Mark nothing."""
        self._on_purpose = False
        self._mark(())


    def _mark(self, places: tuple[int, ...]) -> None:
        self._places = places
        if self._widget is not None:
            self._widget.index = places

    def _marked(self) -> None:
        self._places = tuple(self.widget.index)
        self._on_purpose = False

    @property
    def hint(self) -> str:
        """How to mark several values, or none; and the value that is sent if no value is marked."""
        if self._on_purpose:
            return Items.emptied
        default = self.slot.default
        is_plain = default in (UNSET, [])
        return _SEVERAL if is_plain else f"{_SEVERAL}, default {notes.ghost(default)}"

    def build(self) -> Widget:
        """Make the list of the known values."""
        widget = self.make(
            SelectMultiple,
            "tb-field",
            "tb-marks",
            *self.slot.classes,
            description=notes.label(self.slot.label),
            options=list(self._known),
            index=self._places,
            rows=min(len(self._known), 6),
        )
        self.hear(widget, "index", self._marked)
        return widget
