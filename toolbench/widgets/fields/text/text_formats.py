"""The editor of text in a known format. It shows a hint if the text does not fit, but no error."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

from ipywidgets import Widget

from toolbench.jsonschema.example_values import FORMAT_EXAMPLES
from toolbench.jsonschema.normal import Node
from toolbench.widgets.fields.text.text_box import Line

_TIME = r"\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([zZ]|[+-]\d{2}:\d{2})"


class Format(NamedTuple):
    """A format: its name, a pattern, its shape if it has one, and a function that makes a new value."""

    name: str
    pattern: str
    shape: str = ""
    button: str = ""
    fresh: Callable[[], str] | None = None

    @property
    def words(self) -> str:
        """The name and the shape, such as `a date (YYYY-MM-DD)`."""
        return f"{self.name} ({self.shape})" if self.shape else self.name


def example_of(name: str) -> str:
    """Return a text in the format *name*. It has a time zone only if the shape of the format has one."""
    example, _ = FORMAT_EXAMPLES[name]
    shape = FORMATS[name].shape
    return example[: len(shape)] if shape else example


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


FORMATS = {
    "date": Format("a date", r"\d{4}-\d{2}-\d{2}", "YYYY-MM-DD"),
    "date-time": Format(
        "a date and time",
        rf"\d{{4}}-\d{{2}}-\d{{2}}[tT ]{_TIME}{_ZONE}?",
        "YYYY-MM-DDThh:mm:ssZ",
        "Now",
        _now,
    ),
    "duration": Format(
        "a duration",
        r"-?P(?=.)(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?",
    ),
    "email": Format("an email address", r"[^@\s]+@[^@\s]+"),
    "ipv4": Format("an IPv4 address", r"(\d{1,3}\.){3}\d{1,3}"),
    "ipv6": Format("an IPv6 address", r"[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"),
    "time": Format("a time of day", rf"{_TIME}{_ZONE}?", "hh:mm:ss"),
    "uri": Format("a URL", r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"),
    "uuid": Format(
        "a UUID",
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "",
        "New",
        lambda: str(uuid4()),
    ),
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
        """The name and shape of the format, or a note that the text does not look like this format."""
        words = self._format.words
        if self.text and not re.fullmatch(self._format.pattern, self.text):
            return f"this does not look like {words}"
        return words

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
