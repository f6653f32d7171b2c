"""Check whether texts are in the format that their schema names, such as `format: email`.

For the arguments of a tool `format` is only a hint: a server may know other texts. The answer to a
question must have the format, because a server that asks names it for the person.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

from toolbench.errors import Path, Problem
from toolbench.jsonschema.example_values import FORMAT_EXAMPLES
from toolbench.jsonschema.normal import Node
from toolbench.values import clip

# Levels to search
DEEPEST = 50
_TIME = r"\d{2}:\d{2}:\d{2}(\.\d+)?"
_ZONE = r"([zZ]|[+-]\d{2}:\d{2})"


class _Format(NamedTuple):
    noun: str
    pattern: str


_FORMATS: Mapping[str, _Format] = {
    "date": _Format("a date", r"\d{4}-\d{2}-\d{2}"),
    "date-time": _Format("a date and time", rf"\d{{4}}-\d{{2}}-\d{{2}}[tT ]{_TIME}{_ZONE}?"),
    "duration": _Format("a duration", r"-?P(?=.)(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?"),
    "email": _Format("an email address", r"[^@\s]+@[^@\s]+"),
    "ipv4": _Format("an IPv4 address", r"(\d{1,3}\.){3}\d{1,3}"),
    "ipv6": _Format("an IPv6 address", r"[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"),
    "time": _Format("a time of day", rf"{_TIME}{_ZONE}?"),
    "uri": _Format("a URL", r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"),
    "uuid": _Format("a UUID", r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
}
_CALENDAR = {"date": date.fromisoformat, "date-time": datetime.fromisoformat}


def noun_of(name: str) -> str:
    """Return what a text in the format *name* is, such as `a date`."""
    return _FORMATS[name].noun


def is_in_format(text: str, name: str) -> bool:
    """Tell whether *text* is in the format *name*; True if the format is not known here."""
    if name not in _FORMATS:
        return True
    if not re.fullmatch(_FORMATS[name].pattern, text):
        return False
    try:
        _CALENDAR.get(name, str)(text.upper())
    except ValueError:
        return False
    return True


def format_of(node: Node) -> str:
    """Return the format of all texts that fit *node*; empty if there is none, or a pattern as well."""
    texts = _texts(node)
    names = {one.format for one in texts}
    has_one = len(names) == 1 and not any("pattern" in one.schema for one in texts)
    return names.pop() if has_one else ""


def named_texts(node: Node) -> list[str]:
    """Return the texts that *node* itself names, which show its notation: values, examples, default."""
    nodes = (node, *_texts(node))
    values = [v for n in nodes for v in (*n.values, *n.examples, n.default)]
    return [v for v in values if isinstance(v, str)]


def _texts(node: Node) -> list[Node]:
    return [one for one in node.alternatives if not one.types or "string" in one.types]


def format_problems(node: Node, value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each text in *value* that is not in the format which its schema names.

    Any text passes if the schema asks for another notation: by a pattern, or by a value, a default
    or an example.

    Args:
        node: The node for *value*.
        value: A JSON value.
        path: The path of *value* itself.
    """
    if isinstance(value, str):
        name = format_of(node)
        if not all(is_in_format(text, name) for text in named_texts(node)):
            return
        if not is_in_format(value, name):
            example, _ = FORMAT_EXAMPLES[name]
            message = f"should be {noun_of(name)} such as {example}, not {clip(value)}"
            yield Problem(path, message)
    elif len(path) < DEEPEST and isinstance(value, Mapping | list):
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, item in steps:
            yield from format_problems(node.at(step), item, (*path, step))
