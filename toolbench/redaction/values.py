"""Copy a value of a tool without its secrets, and remove secrets from errors.

The whole value is searched first. It is copied only if it has a secret. The copy has copies of the
parts with secrets, and shares all other parts with the value. In the copy, a mark replaces a part
that contains itself.
"""

import marshal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from pathlib import PurePath
from types import ModuleType
from typing import Any, Literal, TypeVar, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr

from toolbench.redaction import MARK
from toolbench.values import COLLECTIONS

_TEXT = str | bytes | bytearray | memoryview | PurePath
_DATA = frozenset({list, dict, tuple, set, frozenset})
_OF_ERRORS = ("args", "code", "filename", "filename2", "msg", "strerror", "text")
"""The attributes in which Python's own exceptions keep their message."""
_FIELDS = ("__pydantic_extra__", "__pydantic_private__")
"""The attributes in which a pydantic model keeps additional fields, as dicts."""
# Levels: some objects have a new part each time they are read
_DEEPEST = 10_000
# Characters: a shorter string is searched again, which is faster than remembering it
_AGAIN = 200
_Error = TypeVar("_Error", bound=BaseException)


class Hiding:
    """Holds the redactor that hides the secrets of a result when the result is shown.

    A result has this object in a field. The field must not affect the result's value. Therefore,
    all `Hiding` objects are equal, searches ignore them, and pickling drops the secrets.
    """

    def __init__(self, redactor: Any = None) -> None:
        """Hide the secrets of *redactor*. If it is None, hide all secrets that are known."""
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


def masked_value(redactor: Any, value: Any) -> Any:
    """Return *value* itself if it has no secret, else a copy without secrets.

    See `Redactor.value`.
    """
    if not _has_secret(redactor, value):
        return value
    try:
        return _Copy(redactor).of(value)
    except RecursionError:
        return _unknown(value)


def masked_error(redactor: Any, error: _Error) -> _Error | Exception:
    """Remove the secrets from *error*, and return it or a `RuntimeError` that replaces it.

    See `Redactor.error`.
    """
    try:
        return _masked_error(redactor, error)
    except Exception:  # noqa: BLE001 - its parts may be any objects, with a user's code
        message = f"{type(error).__name__}: {MARK}"
        return RuntimeError(message).with_traceback(error.__traceback__)


def _masked_error(redactor: Any, error: _Error) -> _Error | Exception:
    chain = list(_chain(error))
    unchanged = set[int]()
    for link in chain:
        for name, value in list(_attributes(link)):
            masked = masked_value(redactor, value)
            if masked is not value:
                with suppress(AttributeError, TypeError):
                    setattr(link, name, masked)
    for link in chain:
        if redactor.occurs_in(_words(link)):
            unchanged.add(id(link))
    for link in chain:
        if id(link.__context__) in unchanged:
            link.__context__ = None
        if id(link.__cause__) in unchanged:
            link.__cause__ = None
    if id(error) not in unchanged:
        return error
    message = redactor.text(f"{type(error).__name__}: {error}")
    return RuntimeError(message).with_traceback(error.__traceback__)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield *error* and its causes, each once."""
    todo, visited = [error], set[int]()
    while todo:
        link = todo.pop()
        if link is not None and id(link) not in visited:
            visited.add(id(link))
            todo += [link.__cause__, link.__context__, *getattr(link, "exceptions", ())]
            yield link


# --- search -------------------------------------------------------------------------------


def _has_secret(redactor: Any, value: Any) -> bool:
    """Tell whether *value* has a secret, at any depth, or a part that cannot be searched."""
    waiting = [(value, 0)]
    # Kept: ids stay unique
    visited: dict[int, Any] = {}
    while waiting:
        part, depth = waiting.pop()
        if type(part) is not str or len(part) >= _AGAIN:
            if id(part) in visited:
                continue
            visited[id(part)] = part
        try:
            if isinstance(part, _TEXT):
                if redactor.occurs_in(_content(part)):
                    return True
                continue
            if _is_clear(redactor, part):
                continue
            inside = list(_inside(part))
        except Exception:  # noqa: BLE001 - an object's own code: its secrets are unknown
            return True
        if depth > _DEEPEST:
            return True
        waiting.extend((one, depth + 1) for one in inside)
    return False


def _is_clear(redactor: Any, part: Any) -> bool:
    """Tell quickly whether *part* certainly has no secret.

    This check is fifty times faster than searching each part of a large result separately.
    """
    if isinstance(part, _MUTE):
        return True
    if type(part) not in _DATA:
        return False
    try:
        # It has the UTF-8 of each string, and refuses objects of other classes than Python's own
        return not redactor.may_occur_in(marshal.dumps(part))
    except ValueError:
        return False


def _content(text: Any) -> str | bytes:
    # Its content: a subclass may print another string
    if isinstance(text, str):
        return str.__str__(text)
    if isinstance(text, PurePath):
        return str(text)
    return bytes(text)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, COLLECTIONS):
        yield from value
    else:
        if not _shows_its_fields(value):
            yield _words(value)
        for _, attribute in _attributes(value):
            yield attribute


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of *value*: from `__dict__`, from slots, and from exceptions."""
    yield from dict(getattr(value, "__dict__", {})).items()
    names: list[str] = []
    for kind in type(value).__mro__:
        slots = getattr(kind, "__slots__", ())
        if isinstance(slots, str):
            names.append(slots)
        else:
            names += slots
    if isinstance(value, BaseException):
        names += _OF_ERRORS
    for name in names:
        if name not in ("__dict__", "__weakref__") and hasattr(value, name):
            yield name, getattr(value, name)


def _words(value: Any) -> str:
    """Return the message or the repr of *value*; empty if its class does not define a repr."""
    plain: Any = object.__repr__
    if type(value).__repr__ is plain:
        return ""
    try:
        if isinstance(value, BaseException) and (message := str(value)):
            return message
        return repr(value)
    except Exception:  # noqa: BLE001 - then it is not shown at all
        return ""


def _shows_its_fields(value: Any) -> bool:
    """Tell whether *value* is a model whose repr shows only the names and values of its fields."""
    if not isinstance(value, BaseModel) or type(value).model_computed_fields:
        return False
    shows = (type(value).__repr__, type(value).__repr_args__)
    homes = {getattr(one, "__module__", "").partition(".")[0] for one in shows}
    return homes <= {"pydantic", "toolbench"}


# --- copy ---------------------------------------------------------------------------------


class _Copy:
    """Copies a value without its secrets; parts without a secret are shared, not copied."""

    def __init__(self, redactor: Any) -> None:
        self._redactor = redactor
        # By the ids of parts: each part, which keeps its id unique, and what is in place of it
        self._done: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        if id(value) in self._done:
            return self._done[id(value)][1]
        # In place of a value that is inside itself
        self._done[id(value)] = value, MARK
        try:
            masked = self._masked(value)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - an object's own code failed: its secrets are unknown
            masked = MARK
        self._done[id(value)] = value, masked
        return masked

    def _masked(self, value: Any) -> Any:
        if isinstance(value, _TEXT):
            if not self._redactor.occurs_in(_content(value)):
                return value
            if isinstance(value, str | PurePath):
                return _alike(value, self._redactor.text(_content(value)))
            return self._redactor.data(_content(value))
        if _is_clear(self._redactor, value):
            return value
        if isinstance(value, Mapping):
            pairs = {self.of(key): self.of(item) for key, item in value.items()}
            if _same(pairs, value) and _same(pairs.values(), value.values()):
                return value
            return _alike(value, pairs)
        if isinstance(value, COLLECTIONS):
            items = [self.of(item) for item in value]
            if _same(items, value):
                return value
            return _alike(value, items)
        return self._object(value)

    def _object(self, value: Any) -> Any:
        masked, changed = value, {}
        for name, attribute in list(_attributes(value)):
            part = self._attribute(attribute, is_fields=name in _FIELDS)
            if part is not attribute and name not in _kept(value):
                changed[name] = part
        try:
            if changed:
                masked = copy(value)
            # A member of an enum is its own copy
            if masked is not value:
                for name, part in changed.items():
                    # Even if the class is frozen
                    object.__setattr__(masked, name, part)
        except Exception:  # noqa: BLE001 - what cannot be copied is shown as text
            masked = value
        is_same = bool(changed) and masked is value
        if is_same or (not _shows_its_fields(value) and self._redactor.occurs_in(_words(masked))):
            return self._redactor.text(_words(value))
        return masked

    def _attribute(self, value: Any, *, is_fields: bool = False) -> Any:
        try:
            if is_fields and isinstance(value, dict):
                fields = {name: self._attribute(item) for name, item in value.items()}
                return value if _same(fields.values(), value.values()) else fields
            return self.of(value)
        except RecursionError:
            # Only the attribute that is too deep is hidden whole
            return _unknown(value)


def _unknown(value: Any) -> Any:
    """Return the mark for a *value* that is nested too deeply to be searched.

    For a tuple, return a tuple with the mark, because the `args` of an error must be a tuple.
    """
    if type(value) is tuple:
        return (MARK,)
    return MARK


def _same(parts: Any, others: Any) -> bool:
    return all(part is other for part, other in zip(parts, others, strict=False))


def _kept(value: Any) -> frozenset[str]:
    """Return the names of attributes of *value* that are kept even if their value is a secret.

    These are the fields of a model with a `Literal` type, and pydantic's `__pydantic_fields_set__`.
    """
    if not isinstance(value, BaseModel):
        return frozenset()
    names = {"__pydantic_fields_set__"}
    for name, field in type(value).model_fields.items():
        if get_origin(field.annotation) is Literal:
            names.add(name)
    return frozenset(names)


def _alike(value: Any, masked: Any) -> Any:
    """Return *masked* converted to the class of *value*, or unchanged if this fails."""
    kind = type(value)
    try:
        if hasattr(value, "_fields"):
            return kind(*masked)
        return kind(masked)
    except (TypeError, ValueError):
        # An enum, or a class with other parameters
        return masked
