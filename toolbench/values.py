"""Turn any Python value into text or JSON, for arguments and results; no value causes an error.

Python refuses to write an integer of more than 4,300 digits, a `repr` may be a user's code, and
values may contain themselves, be nested too deeply, or have keys that are not text.
"""

import re
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from json import dumps, loads
from math import inf, isfinite, log10
from pathlib import PurePath
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

NOT_KEPT = ", not kept"
"""The end of a text that is in place of a value that is too large to keep."""

# Levels to write
_DEEPEST = 100
# Parts to write of a value whose own repr raises
_MOST = 10_000
# Bits: Python's limit cannot be set below 640 digits
_SURELY_SHORT = 2_000
_SEQUENCES = (list, tuple, set, frozenset, deque)
_WRITTEN = (date, time, timedelta, Decimal, UUID, PurePath)
_JSON_LEAVES = frozenset({str, int, float, bool, type(None)})
_LEAVES = _JSON_LEAVES | {bytes}
_HALF = re.compile("[\ud800-\udfff]")
_BRACKETS: dict[type, str] = {dict: "{}", set: "{}", tuple: "()"}


def text_of(value: Any) -> str:
    """Return `repr(value)`; if `repr` raises an error, a text made from the parts of *value*."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - it may be a user's code
        return "".join(_Parts().of(value, ()))


def str_of(value: Any) -> str:
    """Return `str(value)`; if `str` raises an error, `text_of(value)`."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - as above
        return text_of(value)


def key_text(key: Any) -> str:
    """Return *key*, a key of a mapping, as text, because the keys of JSON are texts."""
    return key if isinstance(key, str) else text_of(key)


def sentence(error: BaseException) -> str:
    """Return `str(error)`, with each note of *error* on a line of its own, as in a traceback.

    If `str` raises an error, the arguments of *error* as text are in its place.
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
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def json_text(value: Any, indent: int | None = None) -> str:
    """Return *value* as JSON, on several lines if *indent* is given; if it has no JSON, its `repr`."""
    try:
        return dumps(value, ensure_ascii=False, indent=indent, default=json_default)
    except (TypeError, ValueError, RecursionError):
        return text_of(value)


def json_default(value: Any, otherwise: Callable[[Any], str] = text_of) -> Any:
    """Return *value*, an object that `json.dumps` cannot write, as a tool's arguments in JSON have it.

    A member of an enum becomes its value, and a date, a path or the like its text. Any other object
    becomes `otherwise(value)`. Use: `default` of `json.dumps`.
    """
    # Its `__class__` may run code
    kind = type(value)
    if issubclass(kind, Enum):
        return value.value
    return to_jsonable_python(value) if issubclass(kind, _WRITTEN) else otherwise(value)


def as_sent(value: Any) -> Any:
    """Return *value*, an argument of a call in Python, as a model or a form sends it.

    See `json_default` for members of enums, dates and the like. Tuples and sets become lists, and
    bytes become base64. Other objects stay as they are.
    """
    try:
        return _sent(value)
    except Exception:  # noqa: BLE001 - a user's code; it may also contain itself
        return value


def _sent(value: Any) -> Any:
    kind = type(value)
    if kind in _JSON_LEAVES:
        return value
    if kind is dict:
        return {_sent(key): _sent(item) for key, item in value.items()}
    if kind in _SEQUENCES:
        return [_sent(item) for item in value]
    if issubclass(kind, Enum):
        return _sent(value.value)
    if issubclass(kind, bytes | bytearray):
        return base64_of(value)
    return to_jsonable_python(value) if issubclass(kind, _WRITTEN) else value


def base64_of(data: bytes | bytearray) -> str:
    """Return *data* as base64, the form of bytes in JSON."""
    return b64encode(data).decode()


def bytes_in(text: str) -> bytes | None:
    """Return the bytes of which *text* is the base64; None if it is not base64.

    Line ends and the other alphabet, with `-` and `_`, are accepted too.
    """
    letters = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return b64decode(letters, validate=True)
    except ValueError:
        return None


_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*|(?=\.))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# Characters; Python refuses to read longer integers
_DIGITS = 4000


def number_in(text: str) -> int | float | None:
    """Return the number that *text* writes as JSON does, or as `.25`; None if there is none."""
    written = _NUMBER.fullmatch(text.strip())
    if written is None or len(text) > _DIGITS:
        return None
    sign, whole, *rest = written.groups(default="")
    number: int | float = loads("".join((sign, whole or "0", *rest)))
    return None if abs(number) == inf else number


def is_json(value: Any) -> bool:
    """Tell whether *value* consists only of dicts, lists, texts, numbers, booleans and None.

    An object of a subclass, such as a member of a `StrEnum`, does not count as one of these.
    """
    waiting, visited = [value], set[int]()
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind in _JSON_LEAVES or id(part) in visited:
            continue
        visited.add(id(part))
        if kind is list:
            items: Iterable[Any] = part
        elif kind is dict and all(type(key) is str for key in part):
            items = part.values()
        else:
            return False
        waiting.extend(item for item in items if type(item) not in _JSON_LEAVES)
    return True


def plain(value: Any, *, form_of: Callable[[Any], Any] = str) -> Any:
    """Return *value* as dicts, lists, texts and numbers for `json.dumps`.

    Models and dataclasses become dicts, tuples and sets become lists, and bytes become base64. NaN
    and infinities become text, and so do objects that have no JSON form, unless *form_of* knows a
    form of them. An integer that is too long for Python to write becomes a text with the number of
    its digits.
    """
    try:
        value_json = to_jsonable_python(value, fallback=form_of, bytes_mode="base64")
    except Exception:  # noqa: BLE001 - as above; it may also be too deep, or contain itself
        value_json = _walked(value, ())
    return _writable(value_json)


def is_readable(value: Any) -> bool:
    """Tell whether pydantic-core may write *value* as JSON: an iterator in it would be used up."""
    waiting, visited = [value], set()
    while waiting:
        item = waiting.pop()
        if type(item) in _LEAVES or id(item) in visited:
            continue
        visited.add(id(item))
        # A part that cannot be read is not written either
        with suppress(Exception):
            if isinstance(item, Iterator):
                return False
            waiting.extend(_parts(item))
    return True


def copied(value: Any) -> Any:
    """Return a deep copy of *value*, a JSON value; this is faster than `copy.deepcopy`.

    Objects that are not dicts or lists are not copied: both values share them.
    """
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def whole_characters(value: Any) -> Any:
    """Return *value*, a JSON value, with U+FFFD for each lone surrogate, which UTF-8 cannot encode.

    Two halves that stand together, as after a stream that was cut between them, become a character.
    """
    if isinstance(value, str):
        if value.isascii() or not _HALF.search(value):
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {whole_characters(name): whole_characters(item) for name, item in value.items()}
    return value


def sendable(value: Any) -> Any:
    """Return `plain(value)` without lone surrogates: JSON that every reader accepts."""
    return whole_characters(plain(value))


# --- as text ------------------------------------------------------------------------------


class _Parts:
    """Writes the text of a value whose repr raises an error, from its parts; at most 10,000 parts."""

    def __init__(self) -> None:
        self._room = _MOST

    def of(self, value: Any, above: tuple[int, ...]) -> Iterator[str]:
        self._room -= 1
        if id(value) in above or len(above) > _DEEPEST or self._room < 0:
            yield "..."
        elif type(value) in (dict, *_SEQUENCES):
            yield from self._inside(value, (*above, id(value)))
        else:
            yield _repr(value)

    def _inside(self, value: Any, above: tuple[int, ...]) -> Iterator[str]:
        brackets = _BRACKETS.get(type(value), "[]")
        yield brackets[0]
        for number, item in enumerate(value):
            if self._room < 0:
                yield ", ..."
                break
            yield ", " if number else ""
            yield from self.of(item, above)
            if type(value) is dict:
                yield ": "
                yield from self.of(value[item], above)
        yield ",)" if type(value) is tuple and len(value) == 1 else brackets[1]


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - as above
        if issubclass(type(value), int):
            return f"<an integer of about {_digits(value):,} digits>"
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def _digits(value: int) -> int:
    """Return the number of digits of *value*, perhaps one too many.

    Python refuses to write *value*, so the digits cannot be counted.
    """
    return int(value.bit_length() * log10(2)) + 1


# --- as JSON ------------------------------------------------------------------------------


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, _SEQUENCES):
        return value
    if isinstance(value, BaseModel):
        return (*vars(value).values(), *(value.model_extra or {}).values())
    return _named_parts(value).values() if is_dataclass(value) else ()


def _named_parts(value: Any) -> dict[str, Any]:
    """Return the fields of *value*, a dataclass object, that have a value, by name."""
    if isinstance(value, type):
        return {}
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _walked(value: Any, above: tuple[int, ...]) -> Any:
    if id(value) in above or len(above) > _DEEPEST:
        return "..."
    try:
        return _parts_walked(value, (*above, id(value)))
    except Exception:  # noqa: BLE001 - as above
        return text_of(value)


def _parts_walked(value: Any, inner: tuple[int, ...]) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return base64_of(value)
        case Mapping():
            return {key_text(key): _walked(item, inner) for key, item in value.items()}
        case BaseModel():
            fields = {**vars(value), **(value.model_extra or {})}
            return {name: _walked(item, inner) for name, item in fields.items()}
        case _ if isinstance(value, _SEQUENCES):
            return [_walked(item, inner) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = _named_parts(value)
            return {name: _walked(item, inner) for name, item in parts.items()}
    return to_jsonable_python(value, fallback=str)


def _writable(value: Any) -> Any:
    """Return *value* with a text in place of each number that JSON cannot have or Python cannot write."""
    if isinstance(value, dict):
        return {name: _writable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if type(value) is int and value.bit_length() > _SURELY_SHORT:
        try:
            str(value)
        except ValueError:
            return f"… an integer of about {_digits(value):,} digits{NOT_KEPT}"
    return value


def not_in_json(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, float]]:
    """Yield the path and the value of each number in *value* that JSON cannot have: nan, inf or -inf."""
    if isinstance(value, float) and not isfinite(value):
        yield path, float(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from not_in_json(item, (*path, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from not_in_json(item, (*path, place))


def each_once(pairs: list[tuple[str, Any]], error: type[ValueError] = ValueError) -> dict[str, Any]:
    """Return *pairs* as a dict; refuse a key that occurs twice. Use: `object_pairs_hook` of `json.loads`.

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
    """Tell whether two JSON values are the same also in their types, numbers and order of keys."""
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
