"""Replace secret values wherever they stand in what a tool returned or raised."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from json import dumps
from pathlib import PurePath
from types import ModuleType
from typing import Any

from pydantic import SecretBytes, SecretStr

MASK = "<secret-hidden>"
_NOTHING = r"(?!)"  # matches nowhere
_TEXT = str | bytes | bytearray | memoryview | PurePath
_ITEMS = (list, tuple, set, frozenset, deque)
_MUTE = int | float | complex | type | ModuleType | SecretStr | SecretBytes | None


class Masking:
    """Replaces some strings in text, and in everything that holds text.

    Lists, tuples, sets, mappings (keys too), paths, bytes, models, dataclasses and the
    attributes of any other object are looked into, also where they go in circles. What holds
    none of the strings is returned as it is, not as a copy; an object that cannot be copied
    without them becomes its text.
    """

    def __init__(self, values: Iterable[str]) -> None:
        """Replace *values*, as they are and as JSON writes them."""
        plain = set(values) - {""}
        written = {
            dumps(value, ensure_ascii=ascii_only)[1:-1]
            for value in plain
            for ascii_only in (True, False)
        }
        # longest first: one value may be part of another
        either = sorted(map(re.escape, plain | written), key=len, reverse=True)
        self._text = re.compile("|".join(either) or _NOTHING)
        self._data = re.compile(self._text.pattern.encode(errors="surrogatepass"))

    def text(self, text: str) -> str:
        """Return *text* with every value replaced."""
        return self._text.sub(MASK, text)

    def anything(self, value: Any) -> Any:
        """Return *value*, or a copy of it with every value replaced."""
        try:
            return _Copy(self).of(value) if self.shows_in(value) else value
        except RecursionError:  # nobody can tell what is down there
            return MASK

    def error(self, error: Exception) -> Exception:
        """Return *error*, its message and causes changed in place, or one that says the same.

        The latter is for an exception that lets nobody change what it says; a cause like
        that is left out.
        """
        chain = list(_chain(error))
        for link in chain:
            for name, value in list(_attributes(link)):
                if self.shows_in(value):
                    with suppress(AttributeError, TypeError):
                        setattr(link, name, self.anything(value))
        telling = {id(link) for link in chain if self.shows_in(_words(link))}
        for link in chain:
            if id(link.__context__) in telling:
                link.__context__ = None
            if id(link.__cause__) in telling:
                link.__cause__ = None
        if id(error) not in telling:
            return error
        said = self.text(f"{type(error).__name__}: {error}")
        return RuntimeError(said).with_traceback(error.__traceback__)

    def shows_in(self, value: Any) -> bool:
        """Tell whether one of the values stands somewhere in *value*."""
        todo, seen = [value], {id(value): value}
        while todo:
            part = todo.pop()
            if isinstance(part, _TEXT):
                if self._shows_in_text(part):
                    return True
            elif not isinstance(part, _MUTE):
                new = [item for item in _inside(part) if id(item) not in seen]
                seen.update((id(item), item) for item in new)  # kept: ids stay unique
                todo += new
        return False

    def _shows_in_text(self, text: Any) -> bool:
        if isinstance(text, str | PurePath):
            return self._text.search(str(text)) is not None
        return self._data.search(bytes(text)) is not None

    def data(self, data: bytes) -> bytes:
        """Return *data* with every value replaced."""
        return self._data.sub(MASK.encode(), data)


class _Copy:
    """One copy of something, without what a masking hides."""

    def __init__(self, masking: Masking) -> None:
        self._masking = masking
        self._made: dict[int, Any] = {}  # what stands for what, by id

    def of(self, value: Any) -> Any:
        if id(value) in self._made:
            return self._made[id(value)]
        if isinstance(value, _MUTE) or not self._masking.shows_in(value):
            return value
        match value:
            case str() | PurePath():
                return _alike(value, self._masking.text(str(value)))
            case bytes() | bytearray() | memoryview():
                return self._masking.data(bytes(value))
            case list() | deque() | dict():
                return self._container(value)
            case tuple() | set() | frozenset():
                return _alike(value, [self.of(item) for item in value])
            case Mapping():
                return self._pairs(value)
        return self._object(value)

    def _container(self, value: Any) -> Any:
        self._made[id(value)] = masked = copy(value)  # first: it may hold itself
        masked.clear()
        if isinstance(value, dict):
            masked.update(self._pairs(value))
        else:
            masked.extend(self.of(item) for item in value)
        return masked

    def _pairs(self, value: Mapping[Any, Any]) -> dict[Any, Any]:
        return {self.of(k): self.of(v) for k, v in value.items()}

    def _object(self, value: Any) -> Any:
        try:
            self._made[id(value)] = masked = copy(value)
            if masked is not value:  # as an enum is
                for name, attribute in list(_attributes(value)):
                    # past what freezes it
                    object.__setattr__(masked, name, self.of(attribute))
        except Exception:  # noqa: BLE001 - whatever it does not like, it does not get out
            masked = value
        if masked is value or self._masking.shows_in(_words(masked)):
            masked = self._made[id(value)] = self._masking.text(_words(value))
        return masked


def _alike(value: Any, masked: Any) -> Any:
    """Return *masked* as the kind of thing *value* is, if that kind takes it."""
    kind = type(value)
    try:
        return kind(*masked) if hasattr(value, "_fields") else kind(masked)
    except (TypeError, ValueError):  # an enum, or a class with a mind of its own
        return masked


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, _ITEMS):
        yield from value
    else:
        yield _words(value)
        for _, attribute in _attributes(value):
            yield attribute


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that *value* keeps, in its `__dict__`, in slots or as exceptions do."""
    yield from getattr(value, "__dict__", {}).items()
    slots = (getattr(cls, "__slots__", ()) for cls in type(value).__mro__)
    names = [n for slot in slots for n in ([slot] if isinstance(slot, str) else slot)]
    if isinstance(value, BaseException):
        names += ["args", "strerror", "filename", "filename2"]
    for name in names:
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            yield name, getattr(value, name)


def _words(value: Any) -> str:
    plain: Any = object.__repr__
    if type(value).__repr__ is plain:
        return ""
    try:
        said = f"{value}" if isinstance(value, BaseException) else ""
        return said or repr(value)
    except Exception:  # noqa: BLE001 - then it says nothing to anybody
        return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """*error* and the ones it came from, each once."""
    todo, seen = [error], set[int]()
    while todo:
        link = todo.pop()
        if link is not None and id(link) not in seen:
            seen.add(id(link))
            todo += [link.__cause__, link.__context__, *getattr(link, "exceptions", ())]
            yield link
