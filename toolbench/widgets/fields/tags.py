"""A list of short values: tags to type, or a list to mark."""

from typing import Any, ClassVar

from ipywidgets import SelectMultiple, TagsInput, Widget

from toolbench.widgets.equality import same
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.choice import labels_of, values_of
from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.widgets.fields.number import read_number, write_number
from toolbench.widgets.fields.rows import Rows
from toolbench.widgets.fields.text import UnreadableError, is_showable


class Tags(Editor):
    """Values as tags. Numbers are kept as they were typed, so nothing is rounded."""

    labelled: ClassVar[bool] = False
    wider: ClassVar[type[Editor] | None] = Rows

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._item = slot.frame.view.node(self.schema.get("items", {})).schema
        self._tags: list[str] = []
        self._on_purpose = False
        listed = values_of(self._item) if "enum" in self._item else []
        self._known = dict(zip(labels_of(self._item, listed), listed, strict=True))

    def read(self) -> Any:
        """Return the list; no tags mean no value, unless the empty list was set."""
        if not self._tags and not self._on_purpose:
            return UNSET
        try:
            return [self._parse(tag) for tag in self._tags]
        except UnreadableError:
            return UNSET

    @property
    def trouble(self) -> str:
        """Which tag cannot be read."""
        try:
            for tag in self._tags:
                self._parse(tag)
        except UnreadableError as reason:
            return str(reason)
        return ""

    def _parse(self, tag: str) -> Any:
        if self._known:
            return self._known[tag]
        if self._item.get("type") == "string":
            return tag
        return read_number(tag, self._item.get("type"))

    def write(self, value: Any) -> bool:
        """Show a list whose items a tag can hold: no blanks around, nothing hidden."""
        if not isinstance(value, list):
            return False
        tags = [self._render(item) for item in value]
        if any(tag is None for tag in tags):
            return False
        self._on_purpose = not tags
        self._put([tag for tag in tags if tag is not None])
        return True

    def _render(self, item: Any) -> str | None:
        if self._known:
            return next(
                (k for k, known in self._known.items() if same(known, item)), None
            )
        if self._item.get("type") != "string":
            return write_number(item)
        if not isinstance(item, str) or not is_showable(item):
            return None
        return item if item and item == item.strip() and "\n" not in item else None

    def clear(self) -> None:
        """Take every tag away."""
        self._on_purpose = False
        self._put([])

    def send_empty(self) -> bool:
        """Send `[]`."""
        return self.write([])

    def _put(self, tags: list[str]) -> None:
        self._tags = tags
        if self._widget is not None:
            self._widget.value = tags
        self.refresh()

    def _typed(self) -> None:
        self._tags = list(self.widget.value)
        self._on_purpose = False

    @property
    def _ghost(self) -> str:
        # the only name a screen reader finds for the input inside
        return f"{notes.line(self.slot.label)}: type, then Enter"

    @property
    def hint(self) -> str:
        """Say what an empty list of tags means now."""
        if self._on_purpose:
            return "the empty list [] is sent"
        if self.slot.is_null:
            return "null is sent"
        default = self.slot.default
        return "" if default is UNSET else f"default {notes.ghost(default)}"

    def build(self) -> Widget:
        """Make the input."""
        widget = self.make(
            TagsInput,
            "tb-tags",
            value=self._tags,
            allowed_tags=list(self._known),
            placeholder=self._ghost,
        )
        self.hear(widget, "value", self._typed)
        return widget


class Marks(Tags):
    """A list of known values, none twice: those marked in a list, in its order."""

    labelled = True
    wider = Tags

    def write(self, value: Any) -> bool:
        """Show *value* when it is in the order of the list."""
        before = list(self._tags)
        if not super().write(value):
            return False
        places = self._places()
        if places == sorted(set(places)):
            return True
        self._put(before)
        return False

    def _places(self) -> list[int]:
        order = list(self._known)
        return [order.index(tag) for tag in self._tags]

    def _put(self, tags: list[str]) -> None:
        self._tags = tags
        if self._widget is not None:
            self._widget.index = tuple(self._places())
        self.refresh()

    def _typed(self) -> None:
        order = list(self._known)
        self._tags = [order[place] for place in self.widget.index]
        self._on_purpose = False

    def build(self) -> Widget:
        """Make the list."""
        widget = self.make(
            SelectMultiple,
            "tb-field",
            "tb-marks",
            description=notes.label(self.slot.label),
            options=list(self._known),
            index=tuple(self._places()),
            rows=min(len(self._known), 6),
        )
        self.hear(widget, "index", self._typed)
        return widget
