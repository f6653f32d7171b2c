"""Hide the secrets in a value: what its schema, a name or its type calls one."""

from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr

from toolbench.core.places import Place, Places
from toolbench.core.telling import is_secret as is_secret
from toolbench.core.telling import is_telling

HIDDEN = "••••••"
WRAPPED = (SecretStr, SecretBytes, Secret)
Kept = dict[tuple[Any, ...], Any]
"""Secrets by the paths where they stood."""


def hide(arguments: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return a copy of *arguments* in which what *schema* calls secret is hidden."""
    hidden: dict[str, Any] = Secrecy(schema).hide(arguments)[0]
    return hidden


class Secrecy:
    """What one schema calls secret, at any depth.

    References, alternatives, items and the values of maps are followed, so that
    `SecretStr | None` is as secret as `SecretStr`. What stands under a name that says so is
    secret too, and every `SecretStr`. Where the schema has a secret inside but describes no
    such value (an object sent as text), nobody can tell which part of it is the secret: all
    of it is hidden.
    """

    def __init__(self, schema: Any, root: Any = None) -> None:
        """Read *schema*; its references are those of *root*, if it is a part of that."""
        self._schema = schema  # kept: places go by the ids of its parts
        self._place = Places(schema if root is None else root).of([schema])

    def hide(self, arguments: Any) -> tuple[Any, Kept]:
        """Return a copy of *arguments* with the secrets hidden, and those; see `mask`.

        Names always show; nothing else does of arguments that are too deep, go in circles,
        or that the schema describes as something else than an object.
        """
        given = dict(arguments) if isinstance(arguments, Mapping) else arguments
        try:
            masked, kept = self.mask(given)
        except RecursionError:  # nobody can tell what is down there
            masked, kept = HIDDEN, {(): given}
        if masked is HIDDEN and isinstance(given, dict):
            masked = dict.fromkeys(given, HIDDEN)
        return masked, kept

    def mask(self, value: Any, name: str = "") -> tuple[Any, Kept]:
        """Return a copy of *value*, called *name*, with its secrets hidden, and those.

        Dicts and lists are copied. Models, dataclasses, tuples and sets are looked into: one
        with a secret becomes the dict or list that JSON would make of it.

        Raises:
            RecursionError: If *value* is too deep, or goes in circles.
        """
        kept: Kept = {}
        return _masked(value, name, self._place, (), kept), kept


def _masked(
    value: Any, name: str, place: Place, path: tuple[Any, ...], kept: Kept
) -> Any:
    if value is None or isinstance(value, bool):
        return value
    inside = opened(value)
    if (
        place.is_secret(name)
        or (isinstance(inside, str) and is_telling(name))  # whatever should stand there
        or (not place.kinds & _kinds_of(inside) and place.has_secrets)
        or isinstance(value, WRAPPED)
    ):
        if isinstance(inside, str | bytes | dict | list) and not inside:
            return value  # that there is no password is no secret
        kept[path] = value
        return HIDDEN
    before = len(kept)
    if isinstance(inside, dict):
        masked: Any = {
            key: _masked(item, str(key), place.of_key(key), (*path, key), kept)
            for key, item in inside.items()
        }
    elif isinstance(inside, list):
        masked = [
            _masked(item, "", place.of_item(i), (*path, i), kept)
            for i, item in enumerate(inside)
        ]
    else:
        return value
    return masked if inside is value or len(kept) > before else value


def _kinds_of(value: Any) -> frozenset[str]:
    """Return the types of JSON that *value* is of; text is what JSON has no word for."""
    if isinstance(value, float) and value.is_integer():
        return _KINDS[int]
    return next(
        (kinds for kind, kinds in _KINDS.items() if isinstance(value, kind)), _TEXT
    )


_TEXT = frozenset({"string"})
_KINDS = {
    str: _TEXT,
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
}


def opened(value: Any) -> Any:
    """Return *value* as the dict or list that JSON would make of it, or as it is."""
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
    held = vars(model)
    named = {
        argument_name(model, name): held[name]
        for name in type(model).model_fields
        if name in held
    }
    return {**named, **(model.model_extra or {})}


def argument_name(model: BaseModel, field: str) -> str:
    """Return the name that *field* of *model* has in JSON."""
    known = type(model).model_fields.get(field)
    alias = known.validation_alias if known else None
    return alias if isinstance(alias, str) else field
