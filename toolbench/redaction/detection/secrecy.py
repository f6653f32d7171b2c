"""Find the secrets in a value, at any depth, by its schema, its names or its types."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr

from toolbench.jsonschema.types import types_of_value
from toolbench.plain import key_text
from toolbench.redaction import MARK
from toolbench.redaction.detection.locations import Location, Locations
from toolbench.redaction.detection.names import is_secret_argument, name_at
from toolbench.redaction.detection.settings import may_hold_secret, secrets_in_argument
from toolbench.redaction.matching.credential_parts import parts
from toolbench.redaction.redactor import SHORTEST_SETTING, Redactor

WRAPPED = (SecretStr, SecretBytes, Secret)
SecretsByPath = dict[tuple[Any, ...], Any]
"""Secrets, each by its path in the value."""


def hide(arguments: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return a copy of *arguments* with the secrets hidden; the JSON Schema *schema* says what is secret."""
    hidden: dict[str, Any] = Secrecy(schema).hide(arguments)[0]
    return hidden


class Secrecy:
    """The rules that tell which values are secret, at any depth, made from one JSON Schema.

    References, alternatives, items and the values of maps are followed: `SecretStr | None` is as
    secret as `SecretStr`. A value with the name of a secret is secret too, and so is every
    `SecretStr`. If the schema has a secret inside but does not describe the value (for example an
    object sent as text), the whole value is hidden, because any part of it may be the secret.
    """

    def __init__(self, schema: Any, root: Any = None) -> None:
        """Make the rules of *schema*. If it is a part of *root*, its references are followed in *root*."""
        # Kept alive: locations are found by the ids of its parts
        self._schema = schema
        self._root = schema if root is None else root
        self._harmless: frozenset[str] | None = None
        # The class of models whose names are harmless
        self._harmless_model: type[BaseModel] | None = None

    @cached_property
    def _location(self) -> Location:
        """The location of the whole value; not made for a schema of which only `defaults` are read."""
        return Locations(self._root).of([self._schema])

    @property
    def has_secrets(self) -> bool:
        """Whether a value of the schema can have a secret by its name or schema, at any depth."""
        return self._location.has_secrets

    @cached_property
    def defaults(self) -> list[str]:
        """The secrets among the defaults in the schema: a server may put secrets there.

        Plain words such as `none` or `changeme` are left out: they occur in too many other texts.
        """
        known = list[str]()
        if not _has_key(self._schema, "default"):
            # Most schemas: reading all their locations takes much longer
            return known
        for name, location in self._location.every_part():
            for value in location.defaults():
                secrets: SecretsByPath = {}
                with suppress(RecursionError):
                    masked = _masked(value, name, location, (name,), secrets)
                    known += [*_known(secrets), *_in_texts(masked)]
        return [s for s in known if len(s) >= SHORTEST_SETTING and not s.isalpha()]

    def is_harmless(self, arguments: Any) -> bool:
        """Tell quickly whether *arguments* certainly have no secret; False means that `hide` must check.

        The result is true if all values are simple, the schema declares all names, and no name
        means a secret. Most calls of most tools are like this.
        """
        if type(arguments) is self._harmless_model and not arguments.model_extra:
            values = vars(arguments)
        else:
            values = _fields(arguments) if isinstance(arguments, BaseModel) else arguments
            if not isinstance(values, dict):
                return False
            # Made when first needed: the schema may be large
            if self._harmless is None:
                self._harmless = frozenset(self._location.harmless_names())
            if not self._harmless.issuperset(values):
                return False
            if isinstance(arguments, BaseModel) and not arguments.model_extra:
                # Its names need no second look
                self._harmless_model = type(arguments)
        for value in values.values():
            if type(value) not in _SIMPLE or (type(value) is str and _may_hold(value)):
                return False
        return True

    def hide(self, arguments: Any) -> tuple[Any, list[str]]:
        """Return a copy of *arguments* that is safe to show, and the texts of the hidden secrets.

        The copy hides the secrets that `mask` hides. It also hides secrets inside texts: in JSON,
        in an address, or in a setting such as `NAME=value`. Names are always shown. All values are
        hidden if *arguments* are nested too deeply or contain themselves, or if the schema has a
        secret but does not describe an object.
        """
        value = dict(arguments) if isinstance(arguments, Mapping) else arguments
        if self.is_harmless(value):
            return value, []
        try:
            masked, secrets = self.mask(value)
        except RecursionError:
            # The deepest parts are unknown
            masked, secrets = MARK, {(): value}
        if masked is MARK and isinstance(value, dict):
            masked = dict.fromkeys(value, MARK)
        inner = list(_in_texts(masked))
        if inner:
            masked = Redactor(inner).value(masked)
        return masked, [*_known(secrets), *inner]

    def mask(self, value: Any, name: str = "") -> tuple[Any, SecretsByPath]:
        """Return a copy of *value* with the secrets hidden, and the secrets by their paths.

        *name* is the name of *value*; it may be the name of a secret. Dicts and lists are copied.
        Models, dataclasses, tuples and sets are searched; one that has a secret becomes a dict or a
        list, as in JSON.

        Raises:
            RecursionError: If *value* is too deep, or contains itself.
        """
        secrets: SecretsByPath = {}
        return _masked(value, name, self._location, (), secrets), secrets

    def secrets_in(self, arguments: Any) -> list[str]:
        """Return the secrets in *arguments*, as texts."""
        return self.hide(arguments)[1]

    def redactor(self, arguments: Any) -> Redactor:
        """Return a redactor of the secrets in *arguments*, to hide them in other texts."""
        return Redactor(self.secrets_in(arguments))


def _has_key(value: Any, key: str) -> bool:
    """Tell whether *key* is in *value*, JSON, at any depth."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            if key in part:
                return True
            todo += [v for v in part.values() if isinstance(v, _CONTAINERS)]
        elif isinstance(part, list):
            todo += [v for v in part if isinstance(v, _CONTAINERS)]
    return False


def _masked(
    value: Any,
    name: str,
    location: Location,
    path: tuple[Any, ...],
    secrets: SecretsByPath,
) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        inside = opened(value)
        if (
            location.is_secret(name)
            # Of any type in the schema
            or _is_secret_text(inside, name, location)
            or (location.types.isdisjoint(_types_of(inside)) and location.has_secrets)
            or isinstance(value, WRAPPED)
        ):
            if isinstance(inside, str | bytes | dict | list) and not inside:
                # An empty password is not a secret
                return value
            secrets[path] = value
            return MARK
        if isinstance(inside, str) and location.content is not None:
            known = list(_in_content(inside, location.content))
            if known:
                secrets[path] = value
                secrets[*path, "contentSchema"] = known
                return MARK
        before = len(secrets)
        if isinstance(inside, dict):
            names = {"value": label} if (label := _name_beside(inside)) else {}
            masked: Any = {
                key: _masked(
                    item,
                    names.get(key) or location.name_of(key_text(key), name),
                    location.of_key(key),
                    (*path, key),
                    secrets,
                )
                for key, item in inside.items()
            }
        elif isinstance(inside, list):
            masked = [
                _masked(item, name, location.of_item(i), (*path, i), secrets)
                for i, item in enumerate(inside)
            ]
        else:
            return value
        return masked if inside is value or len(secrets) > before else value
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - an object's own code: its secrets are unknown
        secrets[path] = value
        return MARK


def _known(secrets: SecretsByPath) -> Iterator[str]:
    """Yield each secret text in *secrets*, and its parts that are secrets too, as the token after `Bearer`."""
    for path, value in secrets.items():
        for text in texts(value):
            yield from parts(text, name_at(path))


def _in_content(text: str, location: Location) -> Iterator[str]:
    """Yield the secrets in *text*, a JSON text whose content *location* describes."""
    if not location.has_secrets or len(text) > _LONGEST:
        return
    with suppress(ValueError, RecursionError):
        inner: SecretsByPath = {}
        _masked(json.loads(text), "", location, (), inner)
        yield from texts(list(inner.values()))


def _in_texts(value: Any) -> Iterator[str]:
    """Yield the secrets that stand inside longer texts in *value*.

    Their names in the texts show that they are secrets: in JSON, in addresses, and in settings.
    """
    for text in texts(value):
        if len(text) > _LONGEST:
            continue
        if may_hold_secret(text):
            yield from secrets_in_argument(text)
        if _JSON.match(text):
            with suppress(ValueError, RecursionError):
                yield from BY_NAMES.hide(json.loads(text))[1]


def _may_hold(text: str) -> bool:
    return may_hold_secret(text) or bool(_JSON.match(text))


def _name_beside(pair: dict[Any, Any]) -> str:
    """Return the name of a secret in *pair*, as in `{"name": "token", "value": ...}`; "" if there is none."""
    if "value" not in pair or len(pair) > _PAIR:
        return ""
    names = (pair.get(key) for key in ("name", "key", "header"))
    return next((n for n in names if isinstance(n, str) and is_secret_argument(n)), "")


# The most members of an object with a name, a value and little else
_PAIR = 4
_JSON = re.compile(r"\s*[\[{]")
# Characters of a JSON text that is searched, in about 50 ms
_LONGEST = 200_000
BY_NAMES = Secrecy({})
"""The rules for values without a schema: only the names tell which values are secret."""


def _is_secret_text(value: Any, name: str, location: Location) -> bool:
    if not isinstance(value, str) or value in location.choices:
        return False
    return is_secret_argument(name)


def _types_of(value: Any) -> frozenset[str]:
    """Return the JSON types of *value*; other objects count as text."""
    return types_of_value(value) or frozenset({"string"})


_CONTAINERS = (dict, list)
_SIMPLE = frozenset({str, int, float, bool, type(None)})


def opened(value: Any) -> Any:
    """Return *value* as a dict or list, if it is an object with parts; any other value unchanged."""
    if isinstance(value, dict | list | str | int | float | bytes):
        return value
    match value:
        case RootModel():
            return opened(value.root)
        case BaseModel():
            return _fields(value)
        case Mapping():
            return dict(value)
        case tuple() if hasattr(value, "_asdict"):
            return value._asdict()
        case tuple() | set() | frozenset() | deque():
            return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in fields(value)}
    return value


def _fields(model: BaseModel) -> dict[str, Any]:
    attributes = vars(model)
    fields = {
        argument_name(model, name): attributes[name]
        for name in type(model).model_fields
        if name in attributes
    }
    return {**fields, **(model.model_extra or {})}


def argument_name(model: BaseModel, field: str) -> str:
    """Return the name that *field* of *model* has in JSON."""
    known = type(model).model_fields.get(field)
    alias = known.validation_alias if known else None
    return alias if isinstance(alias, str) else field


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in *value*, and its numbers as texts, at any depth."""
    todo, visited = [value], set[int]()
    while todo:
        part = todo.pop()
        # A part that cannot be read shows no text
        with suppress(Exception):
            inside = _text_or_parts(part)
            if isinstance(inside, str):
                yield inside
            elif inside and id(part) not in visited:
                visited.add(id(part))
                todo += inside


def _text_or_parts(value: Any) -> str | list[Any]:
    """Return *value* as text if it is text, bytes or a number; else a list of its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        # Bytes that are not text stay unchanged
        return value.decode(errors="surrogateescape")
    if isinstance(value, WRAPPED):
        return [value.get_secret_value()]
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Raises an error if it is too long to print: then no text has it
        return repr(value)
    inside = opened(value)
    if isinstance(inside, dict):
        return [*inside.values()]
    return inside if isinstance(inside, list) else []


# --- a masked value that was edited ----------------------------------------------


def put_back(value: Any, secrets: SecretsByPath, path: tuple[Any, ...] = ()) -> Any:
    """Return *value* with the secret back in place of each mark; *secrets* has the secrets by path."""
    if not secrets:
        return value
    if isinstance(value, str):
        return secrets.get(path, value) if value == MARK else value
    if isinstance(value, dict):
        return {k: put_back(item, secrets, (*path, k)) for k, item in value.items()}
    if isinstance(value, list):
        return [put_back(item, secrets, (*path, i)) for i, item in enumerate(value)]
    return value


def hidden_in(value: Any, masked: Any, path: tuple[Any, ...] = ()) -> SecretsByPath:
    """Return the parts of *value*, a value at *path*, that its copy *masked* hides, by their paths."""
    if isinstance(masked, str):
        return {path: value} if masked == MARK != value else {}
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(value, dict) and isinstance(masked, dict):
        pairs = ((key, item, masked.get(key)) for key, item in value.items())
    elif isinstance(value, list) and isinstance(masked, list):
        both = zip(value, masked, strict=False)
        pairs = ((i, left, right) for i, (left, right) in enumerate(both))
    secrets: SecretsByPath = {}
    for step, item, other in pairs:
        secrets |= hidden_in(item, other, (*path, step))
    return secrets
