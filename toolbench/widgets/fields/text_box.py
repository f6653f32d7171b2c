"""Editors with a text box. They keep the text as the user typed it, even if it cannot be read.

A box that the user has emptied has no value.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import floor, log10
from typing import Any, ClassVar

from ipywidgets import Combobox, Password, Text, Textarea, Widget

from toolbench.jsonschema.node import Node
from toolbench.redaction import MARK
from toolbench.values import number_in
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.wording import point_advice

# Characters that an input element drops, changes or hides: the text is then shown as JSON
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
# ipywidgets does not replace a placeholder with an empty one
_BLANK = "\u200b"
_LONG = 200
# The largest range and number of steps of a slider
_WIDEST, _MOST_STEPS = 100, 1_000
# A field with a limit beyond this number has no slider
_FAR = 10**9
_LONG_NAMES = re.compile(
    r"(^|_)(body|code|command|content|diff|html|instructions?|markdown|message|patch|"
    r"prompt|query|script|sql|text|thought|file_text|new_str|old_str)$",
    re.IGNORECASE,
)


class UnreadableError(ValueError):
    """Typed text cannot be read as a value. The message is shown to the user."""


def is_showable(text: str) -> bool:
    """Tell whether a text box shows all of *text* and returns it unchanged."""
    return _UNSHOWABLE.search(text) is None


class TextBox(Editor):
    """The base class of editors with a text box. A subclass converts text to values and back.

    Attributes:
        text: The typed text.
        kind: The class of the widget.
        nothing: The placeholder if the field has neither a default nor an example. It may be empty.
        emptied: The placeholder if the field's value is empty but is sent.
    """

    kind: ClassVar[type[Widget]] = Text
    classes: ClassVar[tuple[str, ...]] = ("tb-field",)
    emptied: ClassVar[str] = "an empty string is sent"
    nothing: ClassVar[str] = ""
    takes_others: ClassVar[bool] = False
    """Whether `write` accepts a string, number or boolean of the wrong type.

    The box then shows the value as text, and keeps the value until the user edits the text.
    """

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self.text = ""
        self._on_purpose = False
        # The value that the text stands for, if typing the text would give a different value
        self._other: Any = UNSET

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Return the value of *text*; raise `UnreadableError` if *text* cannot be read."""

    @abstractmethod
    def render(self, value: Any) -> str | None:
        """Return the text for *value*; None if a text box cannot show it."""

    def read(self) -> Any:
        """Return the value of the typed text; `UNSET` if the text cannot be read.

        The value of empty text is also `UNSET`, unless the program wrote an empty value.
        """
        if self._other is not UNSET:
            return self._other
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
            if self.text and self._other is UNSET:
                self.parse(self.text)
        except UnreadableError as reason:
            return str(reason)
        return ""

    def write(self, value: Any) -> bool:
        """Show the text for *value*; return False if there is no such text."""
        text, other = self.render(value), UNSET
        if text is None and self.takes_others:
            text, other = _text_of_other(value), value
        if text is None:
            return False
        self.put(text)
        self._on_purpose, self._other = text == "", other
        return True

    @property
    def shows_other(self) -> bool:
        """Whether the box holds a written value that differs from the value of its text."""
        return self._other is not UNSET

    def typed(self) -> Any:
        """Return this box; `UNSET` if it has no value and no text."""
        if not self.text and not self._on_purpose:
            return UNSET
        return self

    def take(self, other: "TextBox") -> None:
        """Take the typed text of *other*, a box of another form, even if it cannot be read."""
        self.put(other.text)
        self._on_purpose, self._other = other._on_purpose, other._other

    def fits(self, text: str) -> bool:
        """Tell whether the box keeps the lines of *text*, which a one-line input would join."""
        return "\n" not in text or issubclass(self.kind, Textarea)

    def clear(self) -> None:
        """Empty the box."""
        self._on_purpose = False
        self.put("")

    def put(self, text: str) -> None:
        """Replace the typed text with *text*."""
        self.text, self._other = text, UNSET
        if self._widget is not None:
            self._widget.value = self.display(text)
        self.refresh()

    def display(self, text: str) -> str:
        """Return what the box shows if *text* was typed."""
        return text

    @property
    def ghost(self) -> str:
        """The placeholder of the empty box."""
        if self._on_purpose:
            return self.emptied
        if self.slot.is_null:
            return "null is sent"
        placeholder = self.slot.extra.get("placeholder")
        if isinstance(placeholder, str):
            return notes.line(placeholder)
        if self.slot.default not in (UNSET, ""):
            return f"default: {notes.ghost(self.slot.default)}"
        examples = self.node.examples
        if examples and not self.slot.secret:
            return f"e.g. {notes.ghost(examples[0])}"
        if self.slot.required:
            return self.nothing or _BLANK
        if not self.nothing:
            return "optional"
        return f"{self.nothing} · optional"

    def build(self) -> Widget:
        """Make the box. It reacts to every key, so that errors appear while the user types."""
        return self.field(
            self.kind,
            *self.classes,
            react=self._typed,
            value=self.display(self.text),
            placeholder=self.ghost,
            **self.options(),
        )

    def options(self) -> dict[str, Any]:
        """Return additional traits of the widget and their values."""
        return {}

    def _typed(self) -> None:
        self.text = self.widget.value
        self._on_purpose, self._other = False, UNSET

    def refresh(self) -> None:
        """Update the placeholder and the error mark, but never the text."""
        super().refresh()
        if self._widget is not None:
            self._widget.placeholder = self.ghost


def _text_of_other(value: Any) -> str | None:
    """Return the text for a value of another type; None if the text is long or not plain."""
    text: str | None
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool):
        text = json.dumps(value)
    else:
        text = write_number(value)
    if not text or len(text) > _LONG or "\n" in text or not is_showable(text):
        return None
    return text


def as_read(typed: Any) -> Any:
    """Return *typed*, which `Slot.typed` has returned, with values in place of the text boxes.

    Text that cannot be read becomes a string.
    """
    if isinstance(typed, TextBox):
        value = typed.read()
        if value is UNSET:
            return typed.text
        return value
    if isinstance(typed, dict):
        return {key: as_read(item) for key, item in typed.items()}
    if isinstance(typed, list):
        return list(map(as_read, typed))
    return typed


class Area(TextBox):
    """The editor of text with several lines."""

    kind: ClassVar[type[Widget]] = Textarea
    classes: ClassVar[tuple[str, ...]] = ("tb-field", "tb-area")
    takes_others = True

    def parse(self, text: str) -> Any:
        """Return *text*, which is the value itself."""
        return text

    def render(self, value: Any) -> str | None:
        """Return *value*; None if it is not a string, or if an input element would change it."""
        if not isinstance(value, str) or not is_showable(value):
            return None
        return value


class Line(Area):
    """The editor of one line of text."""

    kind = Text
    classes = ("tb-field", "tb-short")
    is_short = True
    wider: ClassVar[type[Editor] | None] = Area

    def render(self, value: Any) -> str | None:
        """Return *value*; None if it is not one line of text, or if an input would change it."""
        text = super().render(value)
        if text is None or "\n" in text:
            return None
        return text


class Suggested(Line):
    """The editor of one line of text with suggestions. The user may also type other text."""

    kind = Combobox

    def options(self) -> dict[str, Any]:
        """Return the trait `options` of the widget: the schema's examples, as suggestions."""
        return {"options": [text for text in self.node.examples if self.render(text) is not None]}


class Secret(Line):
    """A password box that is emptied as soon as its text has arrived in the kernel.

    The secret is never part of a widget's state, so no saved notebook contains it.
    """

    kind = Password
    # Both would show the secret
    wider = None
    takes_others = False

    def parse(self, text: str) -> Any:
        """Return *text*, or the number in it if the schema requires a number.

        Raises:
            UnreadableError: If the schema requires a number and *text* is not one.
        """
        if not self._is_number:
            return text
        try:
            return read_number(text, self.node.type)
        except UnreadableError:
            # The message of this error quotes the text
            msg = "This is not a number."
            raise UnreadableError(msg) from None

    def render(self, value: Any) -> str | None:
        """Return the text for *value*; None if *value* does not have the type of the schema."""
        if self._is_number:
            return write_number(value)
        if not isinstance(value, str):
            return None
        return value

    @property
    def _is_number(self) -> bool:
        return self.node.type in ("integer", "number")

    def display(self, text: str) -> str:
        """Return an empty string, so that the secret is not shown."""
        return ""

    @property
    def ghost(self) -> str:
        """The placeholder. It says whether there is a secret, but shows no part of it."""
        if not self.text:
            return super().ghost
        return f"{MARK} (type to replace it)"

    def options(self) -> dict[str, Any]:
        """Return traits with which the box sends its text only when the text is complete.

        The box then sends its text when the user presses Enter or leaves the box, not after each
        key. This is necessary because the box is emptied each time it has sent its text.
        """
        return {"continuous_update": False}

    def _typed(self) -> None:
        if self.widget.value:
            super()._typed()
            self.put(self.text)

    def masked(self) -> Any:
        """Return a mark in place of the secret; `UNSET` if there is no secret."""
        if not self.text:
            return self.read()
        return MARK

    def secrets(self) -> Iterable[str]:
        """Return the secret as the only item; empty if there is no secret."""
        if not self.text:
            return ()
        return (self.text,)


class Number(TextBox):
    """A box for a number, which is written as in JSON, or without the leading zero, as `.25`.

    `1` and `1.0` are different values. If the schema's minimum and maximum are close to each other,
    the page (`frontend/src/native.ts`) adds a slider.
    """

    classes = ("tb-field", "tb-number", "tb-short")
    is_short = True
    takes_others = True

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
        """The placeholder: the kind of number. It is empty if there is a slider, to save room."""
        if self.slider:
            return ""
        return self.node.type or "number"

    @property
    def slider(self) -> str:
        """The minimum, maximum, step and default of a slider; empty if the limits are far apart."""
        numbers = _slider_of(self.node)
        default = self.slot.default
        if numbers and isinstance(default, int | float) and not isinstance(default, bool):
            numbers.append(str(default))
        return " ".join(numbers)


def _slider_of(node: Node) -> list[str]:
    """Return the minimum, maximum and step of a slider for *node*; empty if there is no slider."""
    least, most = node.limit("minimum"), node.limit("maximum")
    above, below = node.limit("exclusiveMinimum"), node.limit("exclusiveMaximum")
    for limit in (least, above, most, below, node.limit("multipleOf")):
        if limit is not None and not -_FAR < limit < _FAR:
            return []
    if least is None:
        least = above
    if most is None:
        most = below
    if least is None or most is None or not 0 < most - least <= _WIDEST:
        return []
    step = _step_of(node, most - least)
    if step <= 0:
        return []
    first = (Decimal(str(least)) / step).to_integral_value(ROUND_CEILING)
    last = (Decimal(str(most)) / step).to_integral_value(ROUND_FLOOR)
    if above is not None and first * step <= Decimal(str(above)):
        first += 1
    if below is not None and last * step >= Decimal(str(below)):
        last -= 1
    if not 1 < last - first <= _MOST_STEPS:
        return []
    return [f"{number:f}" for number in (first * step, last * step, step)]


def _step_of(node: Node, width: float) -> Decimal:
    """Return the step of a slider for *node*, whose limits are *width* apart."""
    step = node.limit("multipleOf")
    if step is not None:
        return Decimal(str(step))
    if node.type == "integer":
        return Decimal(1)
    # 50 to 500 steps
    return Decimal(10) ** floor(log10(width / 50))


def read_number(text: str, kind: str | None) -> int | float:
    """Return the number that the user has typed as *text*.

    *kind* is the type in the schema, "integer" or "number". It only affects the error message,
    because the type is checked later, with the rest of the schema.

    Raises:
        UnreadableError: If *text* is not a number, or the number is too large.
    """
    text = text.strip()
    number = number_in(text)
    if number is not None:
        return number
    msg = f"{text!r:.60} is not an integer."
    if kind != "integer":
        msg = f"{text!r:.60} is not a number. {point_advice(text)}".rstrip()
    raise UnreadableError(msg)


def write_number(value: Any) -> str | None:
    """Return the full text of a finite number; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        text = json.dumps(value)
    except ValueError:
        # An integer too long to print
        return None
    if number_in(text) is None:
        return None
    return text


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
