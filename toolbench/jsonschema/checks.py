"""Check what a validator does not: formats, dates in another notation, and unwanted nulls.

In the arguments of a tool, `format` is only a hint, because a server may accept other strings. But
if a server asks the user a question, the answer must have the format that the server states.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
    """Return a noun for strings in the format *name*, such as `a date`."""
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
    """Return the `format` that every string must have to fit *node*, such as `email`.

    The result is empty if there is no such format, or if the schema for strings also has a
    `pattern`.
    """
    names = set()
    for one in _of_strings(node):
        if "pattern" in one.schema:
            return ""
        names.add(one.format)
    if len(names) == 1:
        return names.pop()
    return ""


def _named_strings(node: Node) -> list[str]:
    """Return the strings among the listed values, examples and default of *node*.

    They show in which notation the schema expects a string.
    """
    strings: list[Any] = []
    for one in (node, *_of_strings(node)):
        strings += [*one.values, *one.examples, one.default]
    return [string for string in strings if isinstance(string, str)]


def _of_strings(node: Node) -> list[Node]:
    return [one for one in node.alternatives if not one.types or "string" in one.types]


def _strings(node: Node, value: Any, path: Path) -> Iterator[tuple[Node, str, Path]]:
    """Yield each string in *value*, with its node and its path."""
    if isinstance(value, str):
        yield node, value, path
    elif len(path) < _DEEPEST:
        for step, item in _steps(value):
            yield from _strings(node.at(step), item, (*path, step))


def _steps(value: Any) -> Iterable[tuple[str | int, Any]]:
    """Return the properties of an object, or the items of a list with their indexes.

    For any other value, return nothing.
    """
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def format_problems(node: Node, value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each string in *value* that does not have the `format` of its schema.

    A schema is not trusted if its own default, an example or a listed value does not have the
    `format`. For such a schema, every string is accepted.

    Args:
        node: The node of the schema for *value*.
        value: A JSON value.
        path: The path of *value* itself.
    """
    for one, string, place in _strings(node, value, path):
        name = format_of(one)
        if is_in_format(string, name):
            continue
        if all(is_in_format(named, name) for named in _named_strings(one)):
            example, _ = FORMAT_EXAMPLES[name]
            message = f"should be {noun_of(name)} such as {example}, not {clip(string)}"
            yield Problem(place, message)


# --- dates ---------------------------------------------------------------------------

_NUMBERS = re.compile(r"\s*\d{1,4}\s*([./-])\s*\d{1,2}\s*\1\s*\d{1,4}\s*")


def has_dates(schema: Any) -> bool:
    """Tell whether a part of *schema* has the format `date`."""
    return any(part.get("format") == "date" for _, part in every(schema))


def date_problems(node: Node, value: Any, path: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each date in *value* that is not valid in the format `date`.

    For example, `1.12.2026` and `2026-02-30` are problems. Strings that do not look like a date,
    such as `today` or `2026-12`, are accepted. If the default, an example or a listed value of a
    schema is written like `1.12.2026`, any date is accepted there.

    Args:
        node: The node of the schema for *value*.
        value: A JSON value.
        path: The path of *value* itself.
    """
    for one, string, place in _strings(node, value, path):
        if not _is_other_notation(string) or format_of(one) != "date":
            continue
        if not any(map(_is_other_notation, _named_strings(one))):
            yield Problem(place, f"{NO_DATE}, not {clip(string)}")


def _is_other_notation(string: str) -> bool:
    return bool(_NUMBERS.fullmatch(string)) and not is_in_format(string, "date")


# --- nulls ---------------------------------------------------------------------------

# Levels to search
_MOST_LEVELS = 100
# Nulls to try
_MOST_TRIED = 50


def holds_null(value: Any) -> bool:
    """Tell whether null is anywhere inside *value*."""
    return any(part is None for part in every_part(value))


def without_nulls(node: Node, value: Any, refused: Collection[Path]) -> Any:
    """Return *value* without the optional properties that are null, but must not be null.

    This is useful because models often send null for an argument instead of leaving it out. Objects
    and lists inside *value* are searched too.

    Args:
        node: The node of the schema for *value*.
        value: A JSON value; it is not changed.
        refused: The paths of the parts of *value* that a validator refused.
    """
    left_out = set()
    for holder, path in _nulls(node, value, ()):
        if _may_go(holder, path[-1], is_refused=path in refused):
            left_out.add(path)
    return _without(value, left_out)


def _may_go(node: Node, name: Any, *, is_refused: bool) -> bool:
    """Tell whether to leave out the property *name*, which is null.

    This is true if all alternatives that declare *name* make it optional and refuse null. If
    *is_refused* is true, a validator has already refused the null.
    """
    is_declared = False
    for one in node.alternatives:
        if name not in one.declared:
            continue
        is_declared = True
        if name in one.required or (not is_refused and one.declared[name].fits(None)):
            return False
    return is_declared


def without_refused_nulls(node: Node, value: Any, is_valid: Callable[[Any], bool]) -> Any:
    """Return *value* without the properties that make it invalid because they are null.

    Use this instead of `without_nulls` if the schema has alternatives. This function first removes
    all properties that are null. Then it puts each of them back, if the value stays valid.

    *value* is returned unchanged if it is valid, if more than fifty properties are null, or if
    removing them does not make *value* valid.
    """
    paths = [path for _, path in islice(_nulls(node, value, ()), _MOST_TRIED + 1)]
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


def _nulls(node: Node, value: Any, path: Path) -> Iterator[tuple[Node, Path]]:
    """Yield each property in *value* that is null: the node of its object, and its path."""
    if len(path) > _MOST_LEVELS:
        return
    for step, item in _steps(value):
        if item is not None:
            yield from _nulls(node.at(step), item, (*path, step))
        elif step in node.names:
            yield node, (*path, step)


def _without(value: Any, left_out: Collection[Path], path: Path = ()) -> Any:
    """Return a copy of *value* without the properties whose paths are in *left_out*.

    *path* is the path of *value* itself.
    """
    if len(path) > _MOST_LEVELS or not isinstance(value, Mapping | list):
        return value
    parts = {}
    for step, item in _steps(value):
        place = (*path, step)
        if place not in left_out:
            parts[step] = _without(item, left_out, place)
    if isinstance(value, list):
        return list(parts.values())
    return parts
