"""What we change in the schemas by which pydantic validates: unknown names, and the JSON of bytes.

An action class forbids unknown names, but pydantic drops them in a model that is the type of a field.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any, LiteralString, TypeVar
from weakref import WeakKeyDictionary

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    EncodedBytes,
    RootModel,
    SecretBytes,
    ValidationError,
)
from pydantic_core import (
    CoreSchema,
    PydanticCustomError,
    SchemaSerializer,
    SchemaValidator,
)
from pydantic_core.core_schema import (
    lax_or_strict_schema,
    no_info_before_validator_function,
    plain_serializer_function_ser_schema,
)

from toolbench.core.foreign import BASE64, misfit_line
from toolbench.errors import Path, Problem
from toolbench.jsonschema.problems import unknown_name, without_branches
from toolbench.values import base64_of, bytes_in

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


# --- bytes of an action or observation: base64 in JSON, at any depth --------------------
# pydantic takes the letters of a text as the bytes, so a file that a form or a model sends as base64
# would reach the tool as letters. The models and dataclasses inside an action are read in the same way, but
# they stay as they are where they are used alone.

_WANTED: LiteralString = "should be base64 text, or bytes in Python"


def read_base64(model: type[BaseModel]) -> None:
    """Have *model*, a complete class, read and write base64 in JSON for each `bytes` inside it."""
    schema = _with_base64(model.__pydantic_core_schema__)
    if schema is None:
        return
    config = next(core["config"] for core in cores(schema) if core.get("cls") is model)
    model.__pydantic_core_schema__ = schema
    # Else the models inside would be read by their own validators
    model.__pydantic_validator__ = SchemaValidator(schema, config, _use_prebuilt=False)
    model.__pydantic_serializer__ = SchemaSerializer(schema, config, _use_prebuilt=False)


def _with_base64(schema: CoreSchema) -> CoreSchema | None:
    """Return a copy of *schema* with base64 for the JSON of each `bytes`; None if it has no `bytes`."""
    if not any(core["type"] == "bytes" and not _is_marked(core) for core in cores(schema)):
        return None
    changed: CoreSchema = _changed(schema)
    return changed


def has_base64(model: type[BaseModel]) -> bool:
    """Tell whether *model* has `bytes` inside whose JSON is base64."""
    return any(map(_is_marked, cores(model.__pydantic_core_schema__)))


def models_read_by_letters(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return the models in *model*, and itself, whose bytes pydantic alone would read from the letters."""
    inside = cores(model.__pydantic_core_schema__)
    kinds = [core["cls"] for core in inside if core["type"] == "model" and _holds_marked(core)]
    return [kind for kind in kinds if kind.model_config.get("val_json_bytes") != "base64"]


def _holds_marked(core: dict[str, Any]) -> bool:
    return any(map(_is_marked, cores(core)))


def _is_marked(core: dict[str, Any]) -> bool:
    return BASE64 in core.get("metadata", {})


def _changed(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return type(part)(map(_changed, part))
    if not isinstance(part, dict):
        return part
    is_schema = isinstance(part.get("type"), str)
    if is_schema and (_is_marked(part) or _makes_something_else(part)):
        return part
    if is_schema and part["type"] == "bytes":
        return _in_base64(part)
    return {
        key: value if is_schema and key in NO_SCHEMAS else _changed(value)
        for key, value in part.items()
    }


def _makes_something_else(core: dict[str, Any]) -> bool:
    """Tell whether *core* is of a class of pydantic that has its own JSON: `SecretBytes`, `Base64Bytes`."""
    function = (
        core.get("function", {}).get("function") if core["type"] == "function-after" else None
    )
    if isinstance(function, type):
        return issubclass(function, SecretBytes)
    return isinstance(getattr(function, "__self__", None), EncodedBytes)


def _in_base64(core: dict[str, Any]) -> dict[str, Any]:
    """Return the schema *core* of `bytes` with base64 as its JSON."""
    inner: Any = {**core, "metadata": {**core.get("metadata", {}), BASE64: True}}
    reference = inner.pop("ref", None)
    write = plain_serializer_function_ser_schema(base64_of, when_used="json")
    # A union tries each of its types strictly first: in `bytes | str` a text stays text
    changed = lax_or_strict_schema(
        lax_schema=no_info_before_validator_function(_read, inner),
        strict_schema={**inner, "strict": True},
        ref=reference,
        serialization=inner.pop("serialization", write),
    )
    return dict(changed)


def _read(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return value
    data = bytes_in(value) if isinstance(value, str) else None
    if data is None:
        raise PydanticCustomError(BASE64, _WANTED)
    return data
