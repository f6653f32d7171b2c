"""What a validator does not check: formats, dates in another notation, nulls that mean unset.

For the arguments of a tool `format` is only a hint: a server may know other strings. The answer to a
question must have the format, because a server that asks names it for the user.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime
from itertools import islice
from typing import Any, NamedTuple

from toolbench.errors import Path, Problem
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.problems import NO_DATE
from toolbench.jsonschema.walk import every
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.values import clip, every_part

# Levels to search
_DEEPEST = 50
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
    elif len(path) < _DEEPEST and isinstance(value, Mapping | list):
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, item in steps:
            yield from format_problems(node.at(step), item, (*path, step))


# --- dates ---------------------------------------------------------------------------

_NUMBERS = re.compile(r"\s*\d{1,4}\s*([./-])\s*\d{1,2}\s*\1\s*\d{1,4}\s*")


def has_dates(schema: Any) -> bool:
    """Tell whether a part of *schema* has the format `date`."""
    return any(part.get("format") == "date" for _, part in every(schema))


def date_problems(node: Node, value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each text in *value* that is written as a date, but not as JSON Schema writes it.

    `1.12.2026` and `2026-02-30` are such texts. `format` is only an annotation, and a server may know
    other texts, such as `today` or `2026-12`: they are no problem. Nor is any text if the schema asks for
    another notation: by a pattern, or by a value, a default or an example.

    Args:
        node: The node for *value*.
        value: A JSON value.
        path: The path of *value* itself.
    """
    if isinstance(value, str):
        if _is_other_notation(value) and _is_iso_date(node):
            yield Problem(path, f"{NO_DATE}, not {clip(value)}")
    elif len(path) < _DEEPEST and isinstance(value, Mapping | list):
        steps = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, item in steps:
            yield from date_problems(node.at(step), item, (*path, step))


def _is_other_notation(text: str) -> bool:
    if not _NUMBERS.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return True
    return False


def _is_iso_date(node: Node) -> bool:
    """Tell whether each text that fits *node* is a date in ISO notation.

    A pattern, or a value in another notation that the schema itself names, asks for another notation.
    """
    return format_of(node) == "date" and not any(map(_is_other_notation, named_texts(node)))


# --- nulls ---------------------------------------------------------------------------

# Levels to search
_MOST_LEVELS = 100
# Nulls to try
_MOST_TRIED = 50


def holds_null(value: Any) -> bool:
    """Tell whether null is anywhere inside *value*."""
    return any(part is None for part in every_part(value))


def without_nulls(node: Node, value: Any, refused: Collection[Path], path: Path = ()) -> Any:
    """Return *value* without the nulls of optional properties that must not be null.

    Objects and lists inside *value* are searched too.

    Args:
        node: The node for *value*.
        value: A JSON value; it is not changed.
        refused: The paths of the parts of *value* that a validator refused.
        path: The path of *value* itself.
    """
    if len(path) > _MOST_LEVELS:
        return value
    if isinstance(value, Mapping):
        return {
            name: without_nulls(node.at(name), item, refused, (*path, name))
            for name, item in value.items()
            if item is not None or not _may_go(node, name, is_refused=(*path, name) in refused)
        }
    if isinstance(value, list):
        return [
            without_nulls(node.at(index), item, refused, (*path, index))
            for index, item in enumerate(value)
        ]
    return value


def without_refused_nulls(node: Node, value: Any, is_valid: Callable[[Any], bool]) -> Any:
    """Return *value* without the nulls that make it invalid.

    Use this for a schema with alternatives: the whole value decides which alternative applies, so
    no null can be judged alone. All nulls of the properties of *node* are removed first; then each
    null that does not make the value invalid is put back. *value* is returned unchanged if it is
    valid, if it is still invalid without these nulls, or if it has more than fifty of them.
    """
    paths = list(islice(_null_paths(node, value), _MOST_TRIED + 1))
    if is_valid(value) or not paths or len(paths) > _MOST_TRIED:
        return value
    left_out = set(paths)
    if not is_valid(_without(value, left_out)):
        return value
    # Keep each null that may stay
    for path in paths:
        if is_valid(_without(value, left_out - {path})):
            left_out.discard(path)
    return _without(value, left_out)


def _null_paths(node: Node, value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each null in *value* that is the value of a property in *node*."""
    if len(path) > _MOST_LEVELS:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if item is not None:
                yield from _null_paths(node.at(name), item, (*path, name))
            elif name in node.names:
                yield (*path, name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _null_paths(node.at(index), item, (*path, index))


def _without(value: Any, left_out: Collection[Path], path: Path = ()) -> Any:
    if len(path) > _MOST_LEVELS:
        return value
    if isinstance(value, Mapping):
        return {
            name: _without(item, left_out, (*path, name))
            for name, item in value.items()
            if (*path, name) not in left_out
        }
    if isinstance(value, list):
        items = enumerate(value)
        return [_without(item, left_out, (*path, index)) for index, item in items]
    return value


def _may_go(node: Node, name: str, *, is_refused: bool) -> bool:
    """Tell whether the property *name* may be left out instead of being null.

    Return True if every alternative with *name* makes it optional and refuses null. *is_refused*
    means that a validator has already refused the null.
    """
    holders = [one for one in node.alternatives if name in one.declared]
    return bool(holders) and all(
        name not in one.required and (is_refused or not one.declared[name].fits(None))
        for one in holders
    )
