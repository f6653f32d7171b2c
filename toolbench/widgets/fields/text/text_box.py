"""Editors with a text box. They keep the text as a person typed it, even if it cannot be read.

A box that a person empties has no value.
"""

import json
import re
from abc import abstractmethod
from typing import Any, ClassVar

from ipywidgets import Combobox, Text, Textarea, Widget

from toolbench.jsonschema.node import Node
from toolbench.values import number_in
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.unset import UNSET
from toolbench.wording import point_advice

# characters that an input element drops, changes or hides: the text is then shown as JSON
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
# ipywidgets does not replace a placeholder by an empty one
_BLANK = "\u200b"
_LONG = 200
_LONG_NAMES = re.compile(
    r"(^|_)(body|code|command|content|diff|html|instructions?|markdown|message|patch|"
    r"prompt|query|script|sql|text|thought|file_text|new_str|old_str)$",
    re.IGNORECASE,
)


class UnreadableError(ValueError):
    """The typed text cannot be read as a value; the message is shown to the person."""


def is_showable(text: str) -> bool:
    """Tell whether a text box shows *text* fully and returns it unchanged."""
    return _UNSHOWABLE.search(text) is None


class TextBox(Editor):
    """The base class of editors with a text box. Subclasses convert the text into a value and back."""

    kind: ClassVar[type[Widget]] = Text
    classes: ClassVar[tuple[str, ...]] = ("tb-field",)

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self.text = ""
        self._on_purpose = False

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Return the value of *text*; raise `UnreadableError` if *text* cannot be read."""

    @abstractmethod
    def render(self, value: Any) -> str | None:
        """Return the text for *value*; None if a text box cannot show it."""

    def read(self) -> Any:
        """Return the value of the typed text.

        Return `UNSET` if the typed text cannot be read, or is empty and no empty value
        was set.
        """
        if not self.text and not self._on_purpose:
            return UNSET
        try:
            return self.parse(self.text)
        except UnreadableError:
            return UNSET

    @property
    def trouble(self) -> str:
        """The reason why the typed text cannot be read; empty if it can be read."""
        try:
            if self.text:
                self.parse(self.text)
        except UnreadableError as reason:
            return str(reason)
        return ""

    def write(self, value: Any) -> bool:
        """Show the text for *value*; return False if there is no such text."""
        text = self.render(value)
        if text is None:
            return False
        self.put(text)
        self._on_purpose = text == ""
        return True

    def typed(self) -> Any:
        """Return this box; `UNSET` if it has no value and no text."""
        return self if self.text or self._on_purpose else UNSET

    def take(self, other: "TextBox") -> None:
        """Take what was typed in *other*, a box of another form, also if it cannot be read."""
        self.put(other.text)
        self._on_purpose = other._on_purpose

    def fits(self, text: str) -> bool:
        """Tell whether the box can show the lines of *text*: an input of one line would join them."""
        return "\n" not in text or issubclass(self.kind, Textarea)

    def clear(self) -> None:
        """Empty the box."""
        self._on_purpose = False
        self.put("")

    def put(self, text: str) -> None:
        """Set *text* as the typed text."""
        self.text = text
        drawn = self.display(text)
        if self._widget is not None and self._widget.value != drawn:
            self._widget.value = drawn
        self.refresh()

    def display(self, text: str) -> str:
        """Return what the box shows for *text*, the typed text."""
        return text

    @property
    def ghost(self) -> str:
        """The placeholder of the empty box."""
        if self._on_purpose:
            return self.emptied
        if self.slot.presence.is_null:
            return "null is sent"
        placeholder = self.slot.extra.get("placeholder")
        if isinstance(placeholder, str):
            return notes.line(placeholder)
        if self.slot.default not in (UNSET, ""):
            return f"default: {notes.ghost(self.slot.default)}"
        examples = self.node.examples
        if examples and not self.slot.secret:
            return f"e.g. {notes.ghost(examples[0])}"
        words = (self.nothing, "" if self.slot.required else "optional")
        return " · ".join(filter(None, words)) or _BLANK

    emptied: ClassVar[str] = "an empty text is sent"
    nothing: ClassVar[str] = ""

    def build(self) -> Widget:
        """Make the box; it reacts to every key, so errors appear while a person types."""
        widget = self.make(
            self.kind,
            *self.classes,
            *self.slot.classes,
            description=notes.label(self.slot.label),
            value=self.display(self.text),
            placeholder=self.ghost,
            **self.options(),
        )
        self.hear(widget, "value", self._typed)
        return widget

    def options(self) -> dict[str, Any]:
        """Return more traits of the widget and their values."""
        return {}

    def _typed(self) -> None:
        self.text = self.widget.value
        self._on_purpose = False

    def refresh(self) -> None:
        """Update the placeholder and the error mark, but never the text."""
        super().refresh()
        if self._widget is not None and self._widget.placeholder != self.ghost:
            self._widget.placeholder = self.ghost


def as_read(typed: Any) -> Any:
    """Return the value of *typed*, what a form holds for another form; an unreadable text is a text."""
    if isinstance(typed, TextBox):
        value = typed.read()
        return typed.text if value is UNSET else value
    if isinstance(typed, dict):
        return {key: as_read(item) for key, item in typed.items()}
    if isinstance(typed, list):
        return [as_read(item) for item in typed]
    return typed


class Area(TextBox):
    """The editor of a text of several lines."""

    kind: ClassVar[type[Widget]] = Textarea
    classes: ClassVar[tuple[str, ...]] = ("tb-field", "tb-area")

    def parse(self, text: str) -> Any:
        """Return *text*, which is the value itself."""
        return text

    def render(self, value: Any) -> str | None:
        """Return *value*; None if it is not a text, or if an input element would change it."""
        return value if isinstance(value, str) and is_showable(value) else None



class Line(Area):
    """The editor of a text of one line."""

    kind = Text
    classes = ("tb-field", "tb-short")
    is_short = True
    wider: ClassVar[type[Editor] | None] = Area

    def render(self, value: Any) -> str | None:
        """Return *value*; None if it is not a text on one line, or an input element would change it."""
        text = super().render(value)
        return None if text is None or "\n" in text else text


class Suggested(Line):
    """The editor of one line of text with suggestions; a person may type other text."""

    kind = Combobox

    def options(self) -> dict[str, Any]:
        """Return the trait `options` of the widget: the examples of the schema, as suggestions."""
        texts = [x for x in self.node.examples if isinstance(x, str)]
        return {"options": [x for x in texts if is_showable(x) and "\n" not in x]}


def wants_lines(slot: Any) -> bool:
    """Tell whether the text of *slot* is likely to have several lines."""
    node: Node = slot.node
    name = slot.key
    if node.format:
        return False
    if isinstance(node.default, str) and "\n" in node.default:
        return True
    longest = node.limit("maxLength")
    if longest is not None:
        return longest > _LONG
    return isinstance(name, str) and _LONG_NAMES.search(name) is not None


def read_number(text: str, kind: str | None) -> int | float:
    """Return the number in *text*. *kind* is the type in the schema, "integer" or "number".

    *kind* only changes the error text here; validation checks the type later.

    Raises:
        UnreadableError: If *text* is not a number, or the number is too large.
    """
    text = text.strip()
    number = number_in(text)
    if number is not None:
        return number
    kind_name = "an integer" if kind == "integer" else "a number"
    advice = "" if kind == "integer" else point_advice(text)
    msg = f"{text!r:.60} is not {kind_name}. {advice}".rstrip()
    raise UnreadableError(msg)


def write_number(value: Any) -> str | None:
    """Return the full text of a finite number; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        text = json.dumps(value)
    except ValueError:
        # An integer too long to print
        return None
    return None if number_in(text) is None else text


class Number(TextBox):
    """A box for a number as in JSON, or `.25`: `1` and `1.0` are different values."""

    classes = ("tb-field", "tb-number", "tb-short")
    is_short = True

    def parse(self, text: str) -> Any:
        """Return the number in *text*.

        Raises:
            UnreadableError: If *text* is not a number, or the number is too large.
        """
        return read_number(text, self.node.type)

    def render(self, value: Any) -> str | None:
        """Return the full text of the number *value*; None if *value* is not a finite number."""
        return write_number(value)

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: the kind of number."""
        return self.node.type or "number"
