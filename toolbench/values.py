"""Return the parts of any Python value, or write any value as text or as JSON, without errors.

`parts` returns what is directly inside a value, `every_part` yields what is inside at any depth,
and `mapped` turns a value into dicts and lists.

The functions for text and JSON accept what would make `repr` or `json.dumps` fail: integers of more
than 4,300 digits, a user's `repr` that raises an error, keys that are not strings, and values that
contain themselves or are nested too deeply.
"""

import re
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from json import dumps, loads
from math import inf, isfinite, log10
from pathlib import PurePath
from typing import Any
from uuid import UUID

from pydantic import BaseModel, RootModel
from pydantic_core import to_jsonable_python

NOT_KEPT = ", not kept"
"""The end of a string that replaces a value which is too large to keep."""

DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")
"""The pattern of a date with a time in JSON, which differs from run to run."""

# Levels to write of a value that has a part without JSON
_DEEPEST = 100
# Bits: Python's limit cannot be set below 640 digits
_SURELY_SHORT = 2_000
COLLECTIONS = (list, tuple, set, frozenset, deque)
"""The collections whose parts have no names."""
_WRITTEN = (date, time, timedelta, Decimal, UUID, PurePath)
_JSON_LEAVES = frozenset({str, int, float, bool, type(None)})
_HALF = re.compile("[\ud800-\udfff]")
_BRACKETS: dict[type, tuple[str, str]] = {set: ("{", "}"), tuple: ("(", ")")}

# --- the parts of a value -----------------------------------------------------------------


def parts(value: Any) -> dict[Any, Any] | list[Any] | None:
    """Return the parts that are directly inside *value*; None if *value* is not a container.

    For a mapping, a pydantic model, a dataclass or a named tuple, the result is a dict. For any
    other collection, it is a list. The fields of a model are named as in JSON: `parts(Point(x=1))`
    is `{"x": 1}`. A `RootModel` is treated like its root value.

    Raises:
        Exception: Any error that the code of *value* raises.
    """
    if type(value) in _JSON_LEAVES:
        return None
    # Before mappings of other classes, for which Python asks the class
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, COLLECTIONS):
        return value._asdict() if hasattr(value, "_asdict") else list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, RootModel):
        return parts(value.root)
    if isinstance(value, BaseModel):
        return _fields_of_model(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return None


def _fields_of_model(model: BaseModel) -> dict[str, Any]:
    attributes = vars(model)
    inside = {}
    for name in type(model).model_fields:
        # One that `model_construct` left out has no value
        if name in attributes:
            inside[argument_name(model, name)] = attributes[name]
    inside.update(model.model_extra or {})
    return inside


def argument_name(model: BaseModel, field: str) -> str:
    """Return the name that *field* of *model* has in JSON."""
    known = type(model).model_fields.get(field)
    if known is not None and isinstance(known.validation_alias, str):
        return known.validation_alias
    return field


_QUICK = (dict, *COLLECTIONS)
# Mappings of classes that are not Python's: some make a new one each time they are read
_MOST_MAPPINGS = 10_000


def every_part(value: Any) -> Iterator[Any]:
    """Yield *value* and everything inside it, at any depth, except the keys of mappings.

    A container is yielded once, even if it occurs twice or contains itself. If reading a container
    raises an error, only the container itself is yielded.
    """
    waiting = [value]
    # Kept: ids stay unique
    visited: dict[int, Any] = {}
    mappings = 0
    while waiting:
        part = waiting.pop()
        if id(part) in visited:
            continue
        visited[id(part)] = part
        yield part
        try:
            if not isinstance(part, _QUICK) and isinstance(part, Mapping):
                mappings += 1
                if mappings > _MOST_MAPPINGS:
                    continue
            inside = parts(part)
        except Exception:  # noqa: BLE001 - it may be a user's code
            inside = None
        if isinstance(inside, dict):
            inside = list(inside.values())
        for item in inside or ():
            if type(item) in _JSON_LEAVES:
                yield item
            else:
                waiting.append(item)


def mapped(value: Any, leaf: Callable[[Any], Any], key: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of *value* in which everything except dicts and lists is replaced.

    Tuples, sets and deques become lists. Any other part is replaced by `leaf(part)`. Models and
    dataclasses are passed to *leaf* as a whole.

    Args:
        value: Any value; it is not changed.
        leaf: A function that returns the replacement of a part.
        key: A function that returns the replacement of a dict's key; by default, keys stay.

    Raises:
        RecursionError: If *value* is nested too deeply, or contains itself.
    """
    # Each leaf costs one call, because results are large
    if isinstance(value, dict):
        fields = {}
        for name, item in value.items():
            if key is not None:
                name = key(name)
            if type(item) in _JSON_LEAVES:
                fields[name] = leaf(item)
            else:
                fields[name] = mapped(item, leaf, key)
        return fields
    if isinstance(value, COLLECTIONS):
        items = []
        for item in value:
            if type(item) in _JSON_LEAVES:
                items.append(leaf(item))
            else:
                items.append(mapped(item, leaf, key))
        return items
    return leaf(value)


# --- as text ------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """Return `repr(value)`; if `repr` raises an error, a string made from the parts of *value*."""
    try:
        return _text(value)
    except RecursionError:
        return f"<{type(value).__name__} that is nested too deeply>"


def _text(value: Any) -> str:
    try:
        return repr(value)
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 - it may be a user's code
        problem = type(error).__name__
    kind = type(value)
    if kind is dict:
        items = [f"{_text(key)}: {_text(item)}" for key, item in value.items()]
        return f"{{{', '.join(items)}}}"
    if kind in COLLECTIONS:
        begin, end = _BRACKETS.get(kind, ("[", "]"))
        if kind is tuple and len(value) == 1:
            end = ",)"
        return f"{begin}{', '.join(map(_text, value))}{end}"
    if issubclass(kind, int):
        return f"<an integer of about {_digits(value):,} digits>"
    return f"<{kind.__name__} whose repr raises {problem}>"


def _digits(value: int) -> int:
    """Return the number of digits of *value*, perhaps one too many.

    Python refuses to write *value*, so the digits cannot be counted.
    """
    return int(value.bit_length() * log10(2)) + 1


def str_of(value: Any) -> str:
    """Return `str(value)`; if `str` raises an error, `text_of(value)`."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - as above
        return text_of(value)


EXACT = 1e15
"""Floats of at least this size have hardly any digits after the point, and are not rounded."""
SMALL = 1e-4
"""Floats below this size are written with an exponent."""


def float_text(value: float, digits: int = 1) -> str:
    """Return *value* as pandas prints it, with at least *digits* and at most 6 decimal places.

    A number close to 0 is written with an exponent and up to 6 digits, such as `1.5e-07`. Example:
    `float_text(0.1 + 0.2) == "0.3"`.
    """
    # A float of numpy, always finite here, is slower, and its repr has the name of its class
    value = float(value)
    size = abs(value)
    if not size < EXACT:
        return repr(value)
    if 0 < size < SMALL:
        return f"{value:.6g}"
    text = f"{value:.6f}".rstrip("0")
    return text.ljust(text.index(".") + 1 + digits, "0")


def key_text(key: Any) -> str:
    """Return *key*, a key of a mapping, as a string, because the keys of JSON are strings."""
    if isinstance(key, str):
        return key
    return text_of(key)


def sentence(error: BaseException) -> str:
    """Return `str(error)`, with each note of *error* on a separate line, as in a traceback.

    If `str` raises an error, the arguments of *error* are used instead.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - as above
        text = ", ".join(map(text_of, error.args))
    notes = vars(error).get("__notes__")
    if not isinstance(notes, list | tuple):
        return text
    return "\n".join([text, *map(str_of, notes)])


def clip(value: Any, limit: int = 60) -> str:
    """Return *value* as JSON, cut to at most *limit* characters."""
    text = json_text(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"


def json_text(value: Any, indent: int | None = None) -> str:
    """Return *value* as JSON, or its `repr` if it has no JSON form.

    If *indent* is given, the JSON has several lines, indented by this number of spaces.
    """
    try:
        return dumps(value, ensure_ascii=False, indent=indent, default=json_default)
    except (TypeError, ValueError, RecursionError):
        return text_of(value)


# --- as JSON ------------------------------------------------------------------------------


def json_default(value: Any, otherwise: Callable[[Any], str] = text_of) -> Any:
    """Return the JSON form of an object that `json.dumps` cannot write.

    Pass this function to `json.dumps` as its argument `default`. A member of an enum becomes its
    value, and a date, a path or the like becomes a string. Any other object becomes
    `otherwise(value)`.
    """
    # Its `__class__` may run code
    kind = type(value)
    if issubclass(kind, Enum):
        return value.value
    if issubclass(kind, _WRITTEN):
        return to_jsonable_python(value)
    return otherwise(value)


def as_sent(value: Any) -> Any:
    """Return an argument of a Python call in the form in which a model would send it.

    Members of enums, dates and the like become the JSON that `json_default` returns. Tuples and
    sets become lists, and bytes become base64. Other objects stay as they are.
    """
    try:
        return mapped(value, _sent, _sent)
    except Exception:  # noqa: BLE001 - a user's code; it may also contain itself
        return value


def _sent(value: Any) -> Any:
    kind = type(value)
    if kind in _JSON_LEAVES:
        return value
    if issubclass(kind, Enum):
        return mapped(value.value, _sent, _sent)
    if issubclass(kind, bytes | bytearray):
        return base64_of(value)
    return json_default(value, _unchanged)


def _unchanged(value: Any) -> Any:
    return value


def base64_of(data: bytes | bytearray) -> str:
    """Return *data* as base64, the form of bytes in JSON."""
    return b64encode(data).decode()


def bytes_in(text: str) -> bytes | None:
    """Decode the base64 string *text*; return None if it is not valid base64.

    The string may contain line breaks, and may use the URL-safe alphabet with `-` and `_`.
    """
    letters = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return b64decode(letters, validate=True)
    except ValueError:
        return None


_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*|(?=\.))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# Characters; Python refuses to read longer integers
_LONGEST_NUMBER = 4000


def number_in(text: str) -> int | float | None:
    """Return the number in *text*, written as in JSON or as `.25`; None if it is not a number."""
    written = _NUMBER.fullmatch(text.strip())
    if written is None or len(text) > _LONGEST_NUMBER:
        return None
    sign, whole, *rest = written.groups(default="")
    number: int | float = loads("".join((sign, whole or "0", *rest)))
    if abs(number) == inf:
        return None
    return number


def is_json(value: Any) -> bool:
    """Tell whether *value* consists only of dicts, lists, strings, numbers, booleans and None.

    The result is false if a part is an object of a subclass of these, such as a member of a
    `StrEnum`. It is also false if *value* contains itself or is nested too deeply.
    """
    try:
        return _is_json(value)
    except RecursionError:
        return False


def _is_json(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        for key in value:
            if type(key) is not str:
                return False
        value = value.values()
    elif kind is not list:
        return kind in _JSON_LEAVES
    for item in value:
        if type(item) in _JSON_LEAVES:
            continue
        if not _is_json(item):
            return False
    return True


def is_readable(value: Any) -> bool:
    """Tell whether *value* contains no iterator, because writing one as JSON would use it up."""
    # By the type: the `__class__` of an object may run code
    return not any(issubclass(type(part), Iterator) for part in every_part(value))


def plain(value: Any, *, form_of: Callable[[Any], Any] = str) -> Any:
    """Return *value* as dicts, lists, strings and numbers for `json.dumps`.

    Models and dataclasses become dicts, tuples and sets become lists, and bytes become base64. NaN
    and infinities become strings. An object that has no JSON form becomes `form_of(object)`. An
    integer that is too long for Python to write becomes a string with the number of its digits. A
    part that contains itself, or is nested too deeply, becomes "...".
    """
    try:
        form = to_jsonable_python(value, fallback=form_of, bytes_mode="base64")
    except Exception:  # noqa: BLE001 - as above; it may also be too deep, or contain itself
        form = _json_by_parts(value, ())
    return mapped(form, _writable)


def _json_by_parts(value: Any, above: tuple[int, ...]) -> Any:
    """Return the JSON form of *value*, part by part, because one of its parts has no JSON form.

    *above* has the ids of the containers around *value*, to find a value that contains itself.
    """
    if type(value) in _JSON_LEAVES:
        return value
    if id(value) in above or len(above) > _DEEPEST:
        return "..."
    inner = (*above, id(value))
    try:
        if isinstance(value, bytes | bytearray):
            return base64_of(value)
        if isinstance(value, COLLECTIONS):
            return [_json_by_parts(item, inner) for item in value]
        inside = parts(value)
        if isinstance(inside, dict):
            return {key_text(key): _json_by_parts(item, inner) for key, item in inside.items()}
        if inside is not None:
            return [_json_by_parts(item, inner) for item in inside]
        return to_jsonable_python(value, fallback=str)
    except Exception:  # noqa: BLE001 - as above
        return text_of(value)


def _writable(value: Any) -> Any:
    """Return *value*, or a string for a number that JSON cannot have or Python cannot write."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if type(value) is int and value.bit_length() > _SURELY_SHORT:
        try:
            str(value)
        except ValueError:
            return f"… an integer of about {_digits(value):,} digits{NOT_KEPT}"
    return value


def copied(value: Any) -> Any:
    """Return a deep copy of the JSON *value*, faster than `copy.deepcopy`."""
    return mapped(value, _unchanged)


def whole_characters(value: Any) -> Any:
    """Return the JSON *value* with U+FFFD in place of each lone surrogate.

    UTF-8 cannot encode a lone surrogate. Two adjacent surrogates that form a character are replaced
    by this character. They occur if a stream was cut inside a character.
    """
    return mapped(value, _whole, _whole)


def _whole(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii() and _HALF.search(value):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def sendable(value: Any) -> Any:
    """Return `plain(value)` without lone surrogates: JSON that every reader accepts."""
    return whole_characters(plain(value))


def not_in_json(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, float]]:
    """Yield the path and the value of each number in *value* that JSON cannot have, such as nan."""
    if isinstance(value, float) and not isfinite(value):
        yield path, float(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from not_in_json(item, (*path, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from not_in_json(item, (*path, place))


def each_once(pairs: list[tuple[str, Any]], error: type[ValueError] = ValueError) -> dict[str, Any]:
    """Return *pairs* as a dict, and refuse repeated keys.

    Pass this function to `json.loads` as its `object_pairs_hook`.

    Raises:
        error: If a key occurs twice.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"the key {clip(twice)} is there twice"
        raise error(msg)
    return value


def same_json(left: Any, right: Any) -> bool:
    """Tell whether two JSON values have the same types, values and order of keys: 1 is not 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(
            same_json(item, right[key]) for key, item in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, float):
        # nan equals nan, -0.0 differs from 0.0
        return repr(left) == repr(right)
    return bool(left == right)
