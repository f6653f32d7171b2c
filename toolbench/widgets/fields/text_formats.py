"""The editor of text in a known format. A text that does not fit gets a hint, but no error."""

from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any, NamedTuple
from uuid import uuid4

from ipywidgets import Widget

from toolbench.jsonschema.checks import is_in_format, noun_of
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.widgets.fields.text_box import Line


class Format(NamedTuple):
    """A format: its shape if it has one, and a button with a function that makes a new value."""

    shape: str = ""
    button: str = ""
    fresh: Callable[[], str] | None = None


def words_of(name: str) -> str:
    """Return what a text in the format *name* is, with its shape: `a date (YYYY-MM-DD)`."""
    shape = FORMATS[name].shape
    if not shape:
        return noun_of(name)
    return f"{noun_of(name)} ({shape})"


def example_of(name: str) -> str:
    """Return a text in the format *name*. It has a time zone only if the shape of the format has one."""
    example, _ = FORMAT_EXAMPLES[name]
    shape = FORMATS[name].shape
    if not shape:
        return example
    return example[: len(shape)]


def _looks_like(text: str, name: str) -> bool:
    """Tell whether *text* is in the format *name*, or what most tools read as a date or a time too."""
    if is_in_format(text, name):
        return True
    try:
        _READERS[name](text)
    except (KeyError, ValueError):
        return False
    return True


_READERS: dict[str, Callable[[str], object]] = {
    "date-time": datetime.fromisoformat,
    "time": time.fromisoformat,
}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


FORMATS = {
    "date": Format("YYYY-MM-DD"),
    "date-time": Format("YYYY-MM-DDThh:mm:ssZ", "Now", _now),
    "duration": Format(),
    "email": Format(),
    "ipv4": Format(),
    "ipv6": Format(),
    "time": Format("hh:mm:ss"),
    "uri": Format(),
    "uuid": Format("", "New", lambda: str(uuid4())),
}


def is_known_format(node: Node) -> bool:
    """Tell whether the format of *node* is in `FORMATS`."""
    return node.format in FORMATS


class Formatted(Line):
    """A line of text in a known format. For some formats, a button makes a new value.

    The page (`frontend/src/native.ts`) puts a button for a calendar or a clock beside a date or time.
    """

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        # The schema chose this editor by name, if it has no known format
        self._name = "date"
        if is_known_format(self.node):
            self._name = self.node.format
        self._format = FORMATS[self._name]

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CSS classes; one says which format it is."""
        return (*Line.classes, f"tb-format-{self._name}")

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: an example."""
        return f"e.g. {example_of(self._name)}"

    @property
    def hint(self) -> str:
        """The name and shape of the format, or a note that the text does not look like this format.

        If the field has an error, the error says what it should be.
        """
        words = words_of(self._name)
        if not self.text or _looks_like(self.text, self._name):
            return words
        if self.slot.display.errors:
            return ""
        return f"this does not look like {words}"

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The box and, if the format has one, the button that fills the box with a new value."""
        if self._format.fresh is None:
            return (self.widget,)
        fill = self.button("fill", self._format.button, self._fill, "tb-side")
        return (self.widget, fill)

    def _fill(self) -> None:
        if self._format.fresh is not None:
            self.write(self._format.fresh())
            self.slot.edited()
