"""Copy a value of a tool without its secrets, and remove secrets from errors."""

import marshal
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from pathlib import PurePath
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr

from toolbench.redaction import MARK

_TEXT = str | bytes | bytearray | memoryview | PurePath
_DATA = frozenset({list, dict, tuple, set, frozenset})
_ITEMS = (list, tuple, set, frozenset, deque)
_OF_ERRORS = ("args", "code", "filename", "filename2", "msg", "strerror", "text")
"""The attributes in which Python's own exceptions keep their message."""
_Error = TypeVar("_Error", bound=BaseException)


class Hiding:
    """The redactor of the views of a result, held in the result; it is no part of its value.

    It equals any other one, no search looks into it, and it leaves this process without the secrets.
    """

    def __init__(self, redactor: Any = None) -> None:
        """Hide the secrets of *redactor*; without it, all secrets that this process remembers."""
        self.redactor = redactor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hiding)

    def __hash__(self) -> int:
        return hash(Hiding)

    def __deepcopy__(self, memo: Any) -> "Hiding":
        return self

    def __reduce__(self) -> Any:
        return Hiding, ()


_MUTE = int | float | complex | type | ModuleType | SecretStr | SecretBytes | Hiding | None


class _Redactor(Protocol):
    def text(self, text: str) -> str: ...

    def data(self, data: bytes) -> bytes: ...

    def occurs_in(self, text: str | bytes) -> bool: ...

    def may_occur_in(self, data: bytes) -> bool: ...


def masked_value(redactor: _Redactor, value: Any) -> Any:
    """Return *value*; if it has a secret, a copy without secrets; see `Redactor.value`."""
    try:
        return _Copy(redactor).of(value)
    except RecursionError:
        # The deepest parts are unknown
        return MARK


def masked_error(redactor: _Redactor, error: _Error) -> _Error | Exception:
    """Return *error* without secrets, or a `RuntimeError` in its place; see `Redactor.error`."""
    try:
        return _masked_error(redactor, error)
    except Exception:  # noqa: BLE001 - its parts may be any objects, with a user's code
        message = f"{type(error).__name__}: {MARK}"
        return RuntimeError(message).with_traceback(error.__traceback__)


def _masked_error(redactor: _Redactor, error: _Error) -> _Error | Exception:
    chain = list(_chain(error))
    for link in chain:
        for name, value in list(_attributes(link)):
            if _is_to_hide(redactor, value):
                with suppress(AttributeError, TypeError):
                    setattr(link, name, masked_value(redactor, value))
    unchanged = {id(link) for link in chain if _is_to_hide(redactor, _words(link))}
    for link in chain:
        if id(link.__context__) in unchanged:
            link.__context__ = None
        if id(link.__cause__) in unchanged:
            link.__cause__ = None
    if id(error) not in unchanged:
        return error
    message = redactor.text(f"{type(error).__name__}: {error}")
    return RuntimeError(message).with_traceback(error.__traceback__)


def _is_to_hide(redactor: _Redactor, value: Any) -> bool:
    """Tell whether *value* has a secret; True also if it is nested too deeply to be searched."""
    try:
        return _shows_in(redactor, value)
    except RecursionError:
        return True


def _shows_in(redactor: _Redactor, value: Any) -> bool:
    """Tell whether *value* has a secret; True also if a part of it cannot be searched.

    Raises:
        RecursionError: If *value* is nested too deeply to be searched.
    """
    return bool(_way_to_secret(redactor, value))


def _way_to_secret(redactor: _Redactor, value: Any) -> list[Any]:
    """Return *value*, its part with a secret, the part of this part, and so on to the secret.

    The last part may also be one that cannot be searched. The list is empty if there is no secret.

    Raises:
        RecursionError: If *value* is nested too deeply to be searched.
    """
    levels, visited = [iter([value])], {id(value): value}
    way: list[Any] = []
    while levels:
        for part in levels[-1]:
            try:
                inside = _read(redactor, part)
            except Exception:  # noqa: BLE001 - an object's own code: its secrets are unknown
                return [*way, part]
            if inside is None:
                return [*way, part]
            new = [one for one in inside if _is_new(one, visited)]
            if new:
                levels.append(iter(new))
                way.append(part)
                break
        else:
            levels.pop()
            del way[-1:]
        if len(levels) > _DEEPEST:
            raise RecursionError
    return []


# Levels: some objects have a new part each time they are read
_DEEPEST = 10_000
# Characters: a shorter text is searched again, which is faster than remembering it
_AGAIN = 200


def _is_new(part: Any, visited: dict[int, Any]) -> bool:
    """Tell whether *part* must be searched: a short text always, any other part only once."""
    if type(part) is str and len(part) < _AGAIN:
        return True
    if id(part) in visited:
        return False
    # Kept: ids stay unique
    visited[id(part)] = part
    return True


def _read(redactor: _Redactor, part: Any) -> list[Any] | None:
    """Return the parts of *part*; None if it is a text with a secret."""
    if isinstance(part, _TEXT):
        return None if redactor.occurs_in(_plain(part)) else []
    if isinstance(part, _MUTE) or (type(part) in _DATA and _is_clear(redactor, part)):
        return []
    return list(_inside(part))


def _is_clear(redactor: _Redactor, data: Any) -> bool:
    """Tell quickly whether *data*, a container, certainly has no secret.

    Of a large result, reading each part by itself takes fifty times longer.
    """
    try:
        # It has the UTF-8 of each text, and refuses objects of other classes than Python's own
        return not redactor.may_occur_in(marshal.dumps(data))
    except ValueError:
        return False


def _plain(text: Any) -> str | bytes:
    # Its content: a subclass may print another text
    if isinstance(text, str):
        return str.__str__(text)
    return str(text) if isinstance(text, PurePath) else bytes(text)


class _Copy:
    """Makes one copy of a value, without the secrets."""

    def __init__(self, redactor: _Redactor) -> None:
        self._redactor = redactor
        # The copy of each part, by the id of the part
        self._copies: dict[int, Any] = {}
        # By id, the parts with a secret: searched once, however deep the secret is
        self._with_secret: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        if id(value) in self._copies:
            return self._copies[id(value)]
        try:
            return self._masked(value) if self._is_to_mask(value) else value
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - an object's own code failed: its secrets are unknown
            self._copies[id(value)] = MARK
            return MARK

    def _is_to_mask(self, value: Any) -> bool:
        if isinstance(value, _MUTE):
            return False
        if id(value) in self._with_secret:
            return True
        try:
            way = _way_to_secret(self._redactor, value)
            self._with_secret.update((id(part), part) for part in way)
            return bool(way)
        except RecursionError:
            if isinstance(value, BaseModel):
                # Only the field that is too deep is hidden whole
                return True
            raise

    def _masked(self, value: Any) -> Any:
        match value:
            case str():
                return _alike(value, self._redactor.text(str.__str__(value)))
            case PurePath():
                return _alike(value, self._redactor.text(str(value)))
            case bytes() | bytearray() | memoryview():
                return self._redactor.data(bytes(value))
        # Raises an error if its parts cannot be read
        list(_inside(value))
        match value:
            case list() | deque() | dict():
                return self._container(value)
            case tuple() | set() | frozenset():
                return _alike(value, [self.of(item) for item in value])
            case Mapping():
                return self._pairs(value)
        return self._object(value)

    def _container(self, value: Any) -> Any:
        # First: the value may contain itself
        self._copies[id(value)] = masked = copy(value)
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
            self._copies[id(value)] = masked = copy(value)
            # A member of an enum is its own copy
            if masked is not value:
                for name, attribute in list(_attributes(value)):
                    if name in _built_in(value):
                        continue
                    # also if the class is frozen
                    part = self._part(attribute, is_fields=name in _FIELDS)
                    object.__setattr__(masked, name, part)
        except Exception:  # noqa: BLE001 - what cannot be copied is shown as text
            masked = value
        words = "" if _shows_its_fields(value) else _words(masked)
        if masked is value or _shows_in(self._redactor, words):
            masked = self._copies[id(value)] = self._redactor.text(_words(value))
        return masked

    def _part(self, value: Any, *, is_fields: bool = False) -> Any:
        if is_fields and isinstance(value, dict):
            return {name: self._part(item) for name, item in value.items()}
        try:
            return self.of(value)
        except RecursionError:
            return MARK


_FIELDS = ("__pydantic_extra__", "__pydantic_private__")


def _built_in(value: Any) -> frozenset[str]:
    """Return the names of attributes of *value* that are kept even if their value is a secret.

    They are the fields of a model that have a `Literal` type, and pydantic's set of fields.
    """
    if not isinstance(value, BaseModel):
        return frozenset()
    fields = type(value).model_fields.items()
    kinds = (n for n, field in fields if get_origin(field.annotation) is Literal)
    return frozenset({"__pydantic_fields_set__", *kinds})


def _shows_its_fields(value: Any) -> bool:
    """Tell whether *value* is a model whose repr shows only the names and values of its fields."""
    if not isinstance(value, BaseModel) or type(value).model_computed_fields:
        return False
    shows = (type(value).__repr__, type(value).__repr_args__)
    homes = {getattr(one, "__module__", "").partition(".")[0] for one in shows}
    return homes <= {"pydantic", "toolbench"}


def _alike(value: Any, masked: Any) -> Any:
    """Return *masked* converted to the class of *value*; unchanged if the class does not accept it."""
    kind = type(value)
    try:
        return kind(*masked) if hasattr(value, "_fields") else kind(masked)
    except (TypeError, ValueError):
        # An enum, or a class with other parameters
        return masked


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, _ITEMS):
        yield from value
    else:
        if not _shows_its_fields(value):
            yield _words(value)
        for _, attribute in _attributes(value):
            yield attribute


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of *value*: from `__dict__`, from slots, and those of an exception."""
    yield from dict(getattr(value, "__dict__", {})).items()
    slots = (getattr(cls, "__slots__", ()) for cls in type(value).__mro__)
    names = [n for slot in slots for n in ([slot] if isinstance(slot, str) else slot)]
    if isinstance(value, BaseException):
        names += _OF_ERRORS
    for name in names:
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            yield name, getattr(value, name)


def _words(value: Any) -> str:
    plain: Any = object.__repr__
    if type(value).__repr__ is plain:
        return ""
    try:
        words = f"{value}" if isinstance(value, BaseException) else ""
        return words or repr(value)
    except Exception:  # noqa: BLE001 - then it is not shown at all
        return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield *error* and its causes, each once."""
    todo, visited = [error], set[int]()
    while todo:
        link = todo.pop()
        if link is not None and id(link) not in visited:
            visited.add(id(link))
            todo += [link.__cause__, link.__context__, *getattr(link, "exceptions", ())]
            yield link
