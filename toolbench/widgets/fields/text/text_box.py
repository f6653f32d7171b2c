"""Text in a box: the draft is kept as typed, and an empty box means no value."""

import re
from abc import abstractmethod
from typing import Any, ClassVar

from ipywidgets import Combobox, Text, Textarea, Widget

from toolbench.jsonschema.normal import Node
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.unset import UNSET

# what an input element drops, rewrites or hides: such text is shown as JSON instead
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_BLANK = "\u200b"  # an empty placeholder would not replace one
_LONG = 200
_LONG_NAMES = re.compile(
    r"(^|_)(body|code|command|content|diff|html|instructions?|markdown|message|patch|"
    r"prompt|query|script|sql|text|thought|file_text|new_str|old_str)$",
    re.IGNORECASE,
)


class UnreadableError(ValueError):
    """A draft that is no value; its message is the sentence to show."""


def is_showable(text: str) -> bool:
    """Tell whether a text box shows *text* as it is, and gives it back unchanged."""
    return _UNSHOWABLE.search(text) is None


class TextBox(Editor):
    """A box of text that means a value. Subclasses say how the two are turned into each other."""

    kind: ClassVar[type[Widget]] = Text
    classes: ClassVar[tuple[str, ...]] = ("tb-field",)

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self.text = ""
        self._on_purpose = False

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Return the value that *text* means; raise `UnreadableError` when it means none."""

    @abstractmethod
    def render(self, value: Any) -> str | None:
        """Return the text for *value*; None when a text box cannot show it."""

    def read(self) -> Any:
        """Return what the draft means; `UNSET` when it is empty or means nothing."""
        if not self.text and not self._on_purpose:
            return UNSET
        try:
            return self.parse(self.text)
        except UnreadableError:
            return UNSET

    @property
    def trouble(self) -> str:
        """Why the draft cannot be read."""
        try:
            if self.text:
                self.parse(self.text)
        except UnreadableError as reason:
            return str(reason)
        return ""

    def write(self, value: Any) -> bool:
        """Show the text for *value*, when there is one."""
        text = self.render(value)
        if text is None:
            return False
        self.put(text)
        self._on_purpose = text == ""
        return True

    def clear(self) -> None:
        """Empty the box."""
        self._on_purpose = False
        self.put("")

    def put(self, text: str) -> None:
        """Make *text* the draft."""
        self.text = text
        drawn = self.display(text)
        if self._widget is not None and self._widget.value != drawn:
            self._widget.value = drawn
        self.refresh()

    def display(self, text: str) -> str:
        """Return what the box shows of the draft."""
        return text

    @property
    def ghost(self) -> str:
        """What stands in the empty box."""
        if self._on_purpose:
            return self.emptied
        if self.slot.presence.is_null:
            return "null is sent"
        placeholder = self.slot.extra.get("placeholder")
        if isinstance(placeholder, str):
            return notes.line(placeholder)
        if self.slot.default is not UNSET:
            return f"default: {notes.ghost(self.slot.default)}"
        examples = self.node.examples
        if examples and not self.slot.secret:
            return f"e.g. {notes.ghost(examples[0])}"
        words = (self.nothing, "" if self.slot.required else "optional")
        return " · ".join(filter(None, words)) or _BLANK

    emptied: ClassVar[str] = '"" (empty text is sent)'
    nothing: ClassVar[str] = ""

    def build(self) -> Widget:
        """Make the box; every key stroke is heard, so that errors appear while typing."""
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
        """Give more state for the widget."""
        return {}

    def _typed(self) -> None:
        self.text = self.widget.value
        self._on_purpose = False

    def refresh(self) -> None:
        """Bring the ghost and the error mark up to date; the text is never touched."""
        super().refresh()
        if self._widget is not None and self._widget.placeholder != self.ghost:
            self._widget.placeholder = self.ghost


class Area(TextBox):
    """Text of several lines."""

    kind: ClassVar[type[Widget]] = Textarea
    classes: ClassVar[tuple[str, ...]] = ("tb-field", "tb-area")

    def parse(self, text: str) -> Any:
        """The draft is the value."""
        return text

    def render(self, value: Any) -> str | None:
        """Show any text that an input element keeps."""
        return value if isinstance(value, str) and is_showable(value) else None

    def send_empty(self) -> bool:
        """Send the empty text."""
        return self.write("")


class Line(Area):
    """Text of one line."""

    kind = Text
    classes = ("tb-field", "tb-short")
    is_short = True
    wider: ClassVar[type[Editor] | None] = Area

    def render(self, value: Any) -> str | None:
        """Show any text without a line break."""
        text = super().render(value)
        return None if text is None or "\n" in text else text


class Suggested(Line):
    """One line of text with suggestions; anything else may be typed."""

    kind = Combobox

    def options(self) -> dict[str, Any]:
        """Suggest the examples of the schema."""
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
