"""The editor of text in a known format. It shows a hint if the text does not fit, but no error."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time
from typing import NamedTuple
from uuid import uuid4

from ipywidgets import Widget

from toolbench.jsonschema.checks import is_in_format, noun_of
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.widgets.fields.text.text_box import Line


class Format(NamedTuple):
    """A format: its shape if it has one, and a button with a function that makes a new value."""

    shape: str = ""
    button: str = ""
    fresh: Callable[[], str] | None = None


def words_of(name: str) -> str:
    """Return what a text in the format *name* is, with its shape: `a date (YYYY-MM-DD)`."""
    shape = FORMATS[name].shape
    return f"{noun_of(name)} ({shape})" if shape else noun_of(name)


def example_of(name: str) -> str:
    """Return a text in the format *name*. It has a time zone only if the shape of the format has one."""
    example, _ = FORMAT_EXAMPLES[name]
    shape = FORMATS[name].shape
    return example[: len(shape)] if shape else example


def _looks_like(text: str, name: str) -> bool:
    """Tell whether *text* is in the format *name*, or what most tools read as a date or a time too."""
    if is_in_format(text, name):
        return True
    try:
        _READERS[name](text)
    except (KeyError, ValueError):
        return False
    return True


_READERS: Mapping[str, Callable[[str], object]] = {
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
    """A line of text in a known format. For some formats, a button makes a new value."""

    @property
    def _format(self) -> Format:
        return FORMATS[self._format_name]

    @property
    def _format_name(self) -> str:
        known = is_known_format(self.node)
        # The schema chose this editor by name
        return self.node.format if known else "date"

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """The placeholder: an example."""
        return f"e.g. {example_of(self._format_name)}"

    @property
    def hint(self) -> str:
        """The name and shape of the format, or a note that the text does not look like this format.

        If the field has an error, the error says what it should be.
        """
        words = words_of(self._format_name)
        if not self.text or _looks_like(self.text, self._format_name):
            return words
        return "" if self.slot.display.errors else f"this does not look like {words}"

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
