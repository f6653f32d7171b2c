"""The editor of text in a known format. Text in another format gets a hint, not an error."""

from collections.abc import Callable
from datetime import datetime, time
from typing import Any

from toolbench.jsonschema.checks import is_in_format, noun_of
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.widgets.fields.text_box import Line


def words_of(name: str) -> str:
    """Return a phrase for the format *name*, with its pattern: `a date (YYYY-MM-DD)`."""
    shape = FORMATS[name]
    if not shape:
        return noun_of(name)
    return f"{noun_of(name)} ({shape})"


def example_of(name: str) -> str:
    """Return an example of the format *name*, such as a date.

    It has a time zone only if the pattern in `words_of` has one.
    """
    example, _ = FORMAT_EXAMPLES[name]
    shape = FORMATS[name]
    if not shape:
        return example
    return example[: len(shape)]


def _looks_like(text: str, name: str) -> bool:
    """Tell whether *text* is in the format *name*, or a date or time that most tools accept."""
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


# The known formats, each with the shape of its text if there is a fixed one
FORMATS = {
    "date": "YYYY-MM-DD",
    "date-time": "YYYY-MM-DDThh:mm:ssZ",
    "duration": "",
    "email": "",
    "ipv4": "",
    "ipv6": "",
    "time": "hh:mm:ss",
    "uri": "",
    "uuid": "",
}


def is_known_format(node: Node) -> bool:
    """Tell whether the format of *node* is in `FORMATS`."""
    return node.format in FORMATS


class Formatted(Line):
    """A line of text in a known format, such as a date or an e-mail address.

    If the format is a date or a time, the page (`frontend/src/native.ts`) shows a button beside the
    line, which opens a calendar or a clock.
    """

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        # There is no known format if the schema chose this editor by name
        self._name = "date"
        if is_known_format(self.node):
            self._name = self.node.format

    @property
    def classes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CSS classes; one of them names the format."""
        return (*Line.classes, f"tb-format-{self._name}")

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: an example."""
        return f"e.g. {example_of(self._name)}"

    @property
    def hint(self) -> str:
        """The format in words, or a note that the text does not look like this format.

        If the field already shows an error, the note is left out.
        """
        words = words_of(self._name)
        if not self.text or _looks_like(self.text, self._name):
            return words
        if self.slot.display.errors:
            return ""
        return f"this does not look like {words}"
