"""What text of a known format looks like: a hint while typing, never a verdict."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid4

from ipywidgets import Widget

from toolbench.widgets.fields.text import Line

_TIME = r"\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([zZ]|[+-]\d{2}:\d{2})"


class Format(NamedTuple):
    """How text of a format looks, an example, and how to make a fresh one."""

    pattern: str
    example: str
    button: str = ""
    fresh: Callable[[], str] | None = None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


FORMATS = {
    "date": Format(r"\d{4}-\d{2}-\d{2}", "2026-11-21"),
    "date-time": Format(
        rf"\d{{4}}-\d{{2}}-\d{{2}}[tT ]{_TIME}{_ZONE}?",
        "2026-11-21T10:30:00Z",
        "Now",
        _now,
    ),
    "duration": Format(r"-?P(?=.)(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?", "P1DT2H"),
    "email": Format(r"[^@\s]+@[^@\s]+", "ada@example.org"),
    "ipv4": Format(r"(\d{1,3}\.){3}\d{1,3}", "192.0.2.1"),
    "ipv6": Format(r"[0-9a-fA-F:.]*:[0-9a-fA-F:.]*", "2001:db8::1"),
    "time": Format(rf"{_TIME}{_ZONE}?", "10:30:00"),
    "uri": Format(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+", "https://example.org"),
    "uuid": Format(
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "",
        "New",
        lambda: str(uuid4()),
    ),
}


def is_known_format(schema: dict[str, Any]) -> bool:
    """Tell whether *schema* names a format this module knows."""
    named = schema.get("format")
    return isinstance(named, str) and named in FORMATS


class Formatted(Line):
    """A line of text of a known format; where one can be made up, a button does."""

    @property
    def _format(self) -> Format:
        return FORMATS[self._named]

    @property
    def _named(self) -> str:
        known = is_known_format(self.schema)
        return str(self.schema["format"]) if known else "date"  # asked for by name

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """Show an example."""
        example = self._format.example
        return f"e.g. {example}" if example else self._named

    @property
    def hint(self) -> str:
        """Name the format, and say when the text does not look like it."""
        named = self._named
        if self.text and not re.fullmatch(self._format.pattern, self.text):
            return f"this does not look like a {named}"
        return named

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The box, and the button that fills it."""
        if self._format.fresh is None:
            return (self.widget,)
        fill = self.button("fill", self._format.button, self._fill, "tb-side")
        return (self.widget, fill)

    def _fill(self) -> None:
        if self._format.fresh is not None:
            self.write(self._format.fresh())
            self.slot.edited()
