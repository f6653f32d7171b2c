"""Refuse misspelt names in the models, dataclasses and TypedDicts inside the arguments of a call.

An action class forbids unknown names, but pydantic drops them in a model that is the type of a field.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, ValidationError

from toolbench.core.foreign import misfit_line
from toolbench.errors import Path, Problem
from toolbench.jsonschema.validation.problems import unknown_name, without_branches

ModelT = TypeVar("ModelT", bound=BaseModel)

_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""The kinds of pydantic's errors about an unknown name."""
_WITH_PARTS = frozenset({"model", "dataclass", "typed-dict"})
"""The kinds of pydantic's schemas of values with named parts."""
NO_SCHEMAS = frozenset({"default", "expected", "metadata", "serialization"})
"""The keys of pydantic's schemas under which no schema is."""
_NOWHERE = object()


def action_with_known_names(action_type: type[ModelT], arguments: Mapping[str, Any]) -> ModelT:
    """Return the object of *action_type* for *arguments*, in which no name is unknown at any depth.

    A model that says `extra="allow"` or `extra="ignore"` in its `model_config` takes any name.

    Raises:
        ValidationError: If *arguments* do not fit, or a name in them is unknown.
    """
    inside = _inside(action_type)
    if not inside.can_drop:
        return action_type.model_validate(arguments)
    action = action_type.model_validate(arguments) if inside.can_differ else None
    try:
        strict = action_type.model_validate(arguments, extra="forbid")
    except ValidationError as error:
        lines = error.errors(include_url=False, include_context=False, include_input=False)
        paths = [tuple(line["loc"]) for line in lines if line["type"] in _UNKNOWN]
        if not paths and action is None:
            raise
    else:
        return strict if action is None else action
    # `extra` also applies to models that say another one themselves: these take such names
    if action is None:
        action = action_type.model_validate(arguments)
    problems = dict.fromkeys(_problems(paths, action, arguments, inside))
    if problems:
        details = [misfit_line(problem, arguments) for problem in problems]
        raise ValidationError.from_exception_data(action_type.__name__, details)
    return action


# --- what is inside an action class ---------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """The keys of a TypedDict."""

    names: tuple[str, ...]
    extra: str | None
    """The `extra` of its own `__pydantic_config__`."""


@dataclass(frozen=True)
class _Inside:
    """What an action class has inside, at any depth."""

    can_drop: bool
    """Whether pydantic may drop a name in one of the values."""
    tables: tuple[_Table, ...] = ()
    can_differ: bool = False
    """Whether `extra="forbid"` may make another object of right arguments."""


_of_class: WeakKeyDictionary[type[BaseModel], _Inside] = WeakKeyDictionary()


def _inside(action_type: type[BaseModel]) -> _Inside:
    inside = _of_class.get(action_type)
    if inside is not None:
        return inside
    options = signature(action_type.model_validate).parameters.values()
    takes_extra = any(p.kind is Parameter.VAR_KEYWORD or p.name == "extra" for p in options)
    is_foreign = getattr(action_type, "foreign_schema", None) is not None
    if is_foreign or not takes_extra:
        inside = _Inside(can_drop=False)
    else:
        # Nothing if it is complete
        action_type.model_rebuild(raise_errors=False)
        if not action_type.__pydantic_complete__:
            # pydantic says why, when it validates
            return _Inside(can_drop=False)
        schemas = list(cores(action_type.__pydantic_core_schema__))
        parts = [
            core
            for core in schemas
            if core["type"] in _WITH_PARTS and core.get("cls") is not action_type
        ]
        tables = [_table(c) for c in parts if c["type"] == "typed-dict"]
        inside = _Inside(
            can_drop=bool(parts),
            tables=tuple(tables),
            can_differ=any(map(_can_differ, schemas)),
        )
    _of_class[action_type] = inside
    return inside


def cores(whole: Any) -> Iterator[dict[str, Any]]:
    """Yield *whole*, a schema of pydantic-core, and all schemas inside it."""
    waiting, ids = [whole], set()
    while waiting:
        part = waiting.pop()
        if id(part) in ids or not isinstance(part, dict | list | tuple):
            continue
        ids.add(id(part))
        if isinstance(part, dict):
            is_schema = isinstance(part.get("type"), str)
            if is_schema:
                yield part
            # else its keys are names of a person, such as `type` and `metadata`
            waiting += [v for k, v in part.items() if not (is_schema and k in NO_SCHEMAS)]
        else:
            waiting += part


def _can_differ(core: Mapping[str, Any]) -> bool:
    """Tell whether *core* may make another object, or none, where pydantic forbids unknown names."""
    config = core.get("config") or {}
    return (
        core["type"] == "function-wrap"
        or core.get("on_error", "raise") != "raise"
        or "allow" in (core.get("extra_behavior"), config.get("extra_fields_behavior"))
    )


def _table(core: Mapping[str, Any]) -> _Table:
    config = getattr(core.get("cls"), "__pydantic_config__", {})
    aliases = [field.get("validation_alias") or name for name, field in core["fields"].items()]
    names = [alias for alias in aliases if isinstance(alias, str)]
    return _Table(tuple(names), config.get("extra"))


# --- the names that an object takes -----------------------------------------------------


def _problems(
    paths: Iterable[Path], action: Any, arguments: Any, inside: _Inside
) -> Iterator[Problem]:
    """Yield a problem for each of *paths*, at which a name was dropped when *action* was made.

    Args:
        paths: Where pydantic would forbid a name, also in branches of unions that were not chosen.
        action: The object that was made of *arguments*.
        arguments: The arguments of the call.
        inside: What the class of *action* has inside.
    """
    for loc in paths:
        path = without_branches(loc, arguments, missing=False)
        if path[-1:] != loc[-1:]:
            # A validator put it there
            continue
        known = _names_at(path[:-1], action, arguments, inside)
        if known is not None and path[-1] not in known:
            yield Problem(path, unknown_name(str(path[-1]), known))


def _names_at(path: Path, value: Any, arguments: Any, inside: _Inside) -> list[str] | None:
    """Return the names that the object at *path* in *value* takes; None if it may take any name."""
    extra = _extra(value, None)
    for step in path:
        value = _part(value, arguments, step)
        arguments = arguments[step]
        extra = _extra(value, extra)
    while isinstance(value, RootModel):
        value = value.root
    if extra in ("allow", "ignore") or _reads_names(value):
        return None
    if isinstance(value, Mapping):
        tables = [t for t in inside.tables if value.keys() <= set(t.names)]
        if not tables or any(t.extra in ("allow", "ignore") for t in tables):
            return None
        return list(dict.fromkeys(name for t in tables for name in t.names))
    names = _fields(value)
    return list(names) if names else None


def _reads_names(value: Any) -> bool:
    """Tell whether a validator of the class of *value* gets the names as they were sent."""
    decorators = getattr(type(value), "__pydantic_decorators__", None)
    validators = getattr(decorators, "model_validators", {}).values()
    return any(v.info.mode in ("before", "wrap") for v in validators)


def _extra(value: Any, inherited: str | None) -> str | None:
    """Return what *value* does with unknown names: by its own configuration, or else *inherited*."""
    # A model inherits nothing from the model around it
    if isinstance(value, BaseModel):
        return value.model_config.get("extra")
    config = getattr(type(value), "__pydantic_config__", None)
    return inherited if config is None else config.get("extra")


def _fields(value: Any) -> Mapping[str, str]:
    """Return, for each name that *value* takes, the name of its attribute; empty if it is no object."""
    declared = getattr(type(value), "__pydantic_fields__", None)
    if declared is None:
        own = fields(value) if is_dataclass(value) else ()
        return {field.name: field.name for field in own}
    config = getattr(value, "model_config", None) or getattr(type(value), "__pydantic_config__", {})
    by_name = (
        config.get("populate_by_name")
        or config.get("validate_by_name")
        or config.get("validate_by_alias") is False
    )
    names = {}
    for attribute, field in declared.items():
        aliases = list(_aliases(field.validation_alias))
        for name in (*aliases, attribute) if by_name or not aliases else aliases:
            names[name] = attribute
    return names


def _aliases(alias: str | AliasPath | AliasChoices | None) -> Iterator[str]:
    match alias:
        case str():
            yield alias
        case AliasPath():
            yield str(alias.path[0])
        case AliasChoices():
            for choice in alias.choices:
                yield from _aliases(choice)


def _part(value: Any, sent: Any, step: str | int) -> Any:
    """Return the part of *value* that was made of the part *step* of *sent*; `_NOWHERE` if unknown."""
    while isinstance(value, RootModel):
        value = value.root
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        if len(value) != len(sent):
            return _NOWHERE
        # Another key, same place
        return list(value.values())[list(sent).index(step)]
    if isinstance(value, Sequence) and isinstance(step, int):
        return value[step] if step < len(value) else _NOWHERE
    # All are alike, but in another order
    if isinstance(value, Set):
        return next(iter(value), _NOWHERE)
    attribute = _fields(value).get(str(step))
    return _NOWHERE if attribute is None else getattr(value, attribute, _NOWHERE)
