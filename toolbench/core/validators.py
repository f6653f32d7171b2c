"""Changes to the schemas with which pydantic validates: unknown names, and the JSON of bytes.

pydantic makes a validator from a *core schema*: nested dicts, each with a `type`. Inside actions,
two of pydantic's rules are not what the author of a tool expects:

- An action class forbids unknown names, but pydantic drops unknown names in nested models.
  `action_with_known_names` validates with a copy of the schema that forbids them there too.
- For a `bytes` field, pydantic encodes the characters of a JSON string. But a form or a model
  sends a file as base64, so `read_base64` makes the field decode base64. This applies to models
  and dataclasses inside an action, and does not change them where they are used alone.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, LiteralString, TypeVar

from pydantic import BaseModel, EncodedBytes, SecretBytes, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, SchemaSerializer, SchemaValidator
from pydantic_core.core_schema import (
    lax_or_strict_schema,
    no_info_before_validator_function,
    plain_serializer_function_ser_schema,
)

from toolbench.core.foreign import BASE64, full_schema, misfit_line
from toolbench.core.kinds import untagged
from toolbench.errors import Problem
from toolbench.jsonschema.node import read
from toolbench.jsonschema.problems import unknown_name, without_branches
from toolbench.values import base64_of, bytes_in

ModelT = TypeVar("ModelT", bound=BaseModel)

_NO_SCHEMAS = frozenset({"default", "expected", "metadata", "serialization"})
"""The keys of pydantic's core schemas whose values contain no further schemas."""


def _kind(part: Any) -> str:
    """Return the kind of *part*, a part of a core schema; empty if it is not a schema itself.

    A dict of fields may have a field called `type`, but the value of that is not a string.
    """
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def _cores(whole: Any) -> Iterator[dict[str, Any]]:
    """Yield *whole*, a schema of pydantic-core, and all schemas inside it."""
    waiting, ids = [whole], set()
    while waiting:
        part = waiting.pop()
        if id(part) in ids or not isinstance(part, dict | list | tuple):
            continue
        ids.add(id(part))
        if isinstance(part, dict):
            is_schema = bool(_kind(part))
            if is_schema:
                yield part
            waiting += [v for k, v in part.items() if not (is_schema and k in _NO_SCHEMAS)]
        else:
            waiting += part


def _copied(part: Any, change: Callable[[Any], Any]) -> Any:
    """Copy *part*, a part of a core schema, and apply *change* to each value directly inside it."""
    if isinstance(part, list | tuple):
        return type(part)(map(change, part))
    if not isinstance(part, dict):
        return part
    is_schema = bool(_kind(part))
    copy = {}
    for key, value in part.items():
        if is_schema and key in _NO_SCHEMAS:
            copy[key] = value
        else:
            copy[key] = change(value)
    return copy


# --- unknown names ----------------------------------------------------------------------

_OBJECTS = frozenset({"model-fields", "dataclass-args", "typed-dict"})
"""The kinds of core schemas that list the names of an object's fields."""
_CONFIGURED = frozenset({"model", "dataclass", "typed-dict"})
"""The kinds of core schemas whose configuration says how to handle unknown names."""
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
"""The kinds of pydantic's errors about an unknown name."""
# The attribute of a class that keeps its validator: one in a table would keep the class alive
_STRICT = "__toolbench_strict__"


def action_with_known_names(action_type: type[ModelT], arguments: Mapping[str, Any]) -> ModelT:
    """Validate *arguments* as an object of *action_type*, and refuse unknown names at any depth.

    Unknown names are accepted in three places: in a model with `extra="allow"` or
    `extra="ignore"`, in an object that a *before* validator reads, and everywhere inside a *wrap*
    validator.

    Raises:
        ValidationError: If *arguments* do not fit, or contain an unknown name.
    """
    strict = _strict_validator(action_type)
    if strict is None:
        return action_type.model_validate(arguments)
    try:
        action: ModelT = strict.validate_python(untagged(action_type, arguments))
    except ValidationError as error:
        # What else is wrong is told first
        action = action_type.model_validate(arguments)
        problems = _unknown_names(error, action_type, arguments)
        if problems:
            lines = [misfit_line(problem, arguments) for problem in problems]
            raise ValidationError.from_exception_data(action_type.__name__, lines) from None
    return action


def _strict_validator(action_type: type[BaseModel]) -> SchemaValidator | None:
    """Return a validator that refuses unknown names at any depth.

    Return None if pydantic's own validator of *action_type* already does so.
    """
    own = vars(action_type)
    if _STRICT not in own:
        # Nothing if it is complete
        action_type.model_rebuild(raise_errors=False)
        if not action_type.__pydantic_complete__:
            # pydantic says why, when it validates
            return None
        core = action_type.__pydantic_core_schema__
        objects = [inner for inner in _cores(core) if inner["type"] in _OBJECTS]
        # A foreign class is judged by its JSON Schema
        is_foreign = getattr(action_type, "foreign_schema", None) is not None
        strict = None
        if not is_foreign and len(objects) > 1:
            # Else the models inside would be read by their own validators
            strict = SchemaValidator(_forbidding(core), _use_prebuilt=False)
        setattr(action_type, _STRICT, strict)
    kept: SchemaValidator | None = own[_STRICT]
    return kept


def _forbidding(part: Any, extra: str | None = None) -> Any:
    """Copy *part*, a part of a core schema, and forbid the names that pydantic would drop.

    Args:
        part: The part.
        extra: How the object around *part* handles unknown names; None if it does not say.
    """
    kind = _kind(part)
    # It may make another object where there is an error
    if kind == "function-wrap" or (kind == "default" and part.get("on_error", "raise") != "raise"):
        return part
    if kind == "function-before":
        # Its function gets the names as they were sent
        extra = "ignore"
    elif kind in _CONFIGURED and extra != "ignore":
        extra = part.get("config", {}).get("extra_fields_behavior")
    if kind not in _OBJECTS:
        return _copied(part, partial(_forbidding, extra=extra))
    copy = _copied(part, _forbidding)
    if extra is None:
        copy["extra_behavior"] = "forbid"
    return copy


def _unknown_names(
    error: ValidationError, action_type: type[BaseModel], arguments: Mapping[str, Any]
) -> list[Problem]:
    """Return a problem for each name in *arguments* that *error* reports as unknown.

    For a union, pydantic reports the errors of each branch. A name that is unknown in one branch
    and known in another is returned only if there are no other problems.
    """
    node = read(full_schema(action_type))
    problems, known_elsewhere = [], []
    for line in error.errors(include_url=False, include_context=False, include_input=False):
        path = without_branches(line["loc"], arguments, missing=False)
        # Else a validator put the name there
        if line["type"] in _UNKNOWN and path[-1:] == line["loc"][-1:]:
            name = path[-1]
            names = node.at(*path[:-1]).names
            others = [other for other in names if other != name]
            problem = Problem(path, unknown_name(str(name), others))
            if name in names:
                known_elsewhere.append(problem)
            else:
                problems.append(problem)
    return list(dict.fromkeys(problems or known_elsewhere))


# --- bytes of an action or observation: base64 in JSON -----------------------------------

_WANTED: LiteralString = "should be base64 text, or bytes in Python"


def read_base64(model: type[BaseModel]) -> None:
    """Make *model*, a complete class, read and write its nested `bytes` as base64 in JSON."""
    inside = list(_cores(model.__pydantic_core_schema__))
    if not any(core["type"] == "bytes" and not _is_marked(core) for core in inside):
        return
    schema: CoreSchema = _with_base64(model.__pydantic_core_schema__)
    config = next(core["config"] for core in inside if core.get("cls") is model)
    model.__pydantic_core_schema__ = schema
    # Else the models inside would be read by their own validators
    model.__pydantic_validator__ = SchemaValidator(schema, config, _use_prebuilt=False)
    model.__pydantic_serializer__ = SchemaSerializer(schema, config, _use_prebuilt=False)


def has_base64(model: type[BaseModel]) -> bool:
    """Tell whether *model* contains `bytes` whose JSON is base64."""
    return any(map(_is_marked, _cores(model.__pydantic_core_schema__)))


def models_read_by_letters(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return *model* and nested models with base64 `bytes` that plain pydantic would not decode."""
    kinds = []
    for core in _cores(model.__pydantic_core_schema__):
        is_read = core["type"] == "model" and any(map(_is_marked, _cores(core)))
        if is_read and core["cls"].model_config.get("val_json_bytes") != "base64":
            kinds.append(core["cls"])
    return kinds


def _is_marked(core: dict[str, Any]) -> bool:
    return BASE64 in core.get("metadata", {})


def _with_base64(part: Any) -> Any:
    """Return a copy of *part*, a part of a core schema, with base64 as the JSON of each `bytes`."""
    kind = _kind(part)
    if kind and (_is_marked(part) or _makes_something_else(part)):
        return part
    if kind == "bytes":
        return _in_base64(part)
    return _copied(part, _with_base64)


def _makes_something_else(core: dict[str, Any]) -> bool:
    """Tell whether *core* is a pydantic type with its own JSON: `SecretBytes`, `Base64Bytes`."""
    if core["type"] != "function-after":
        return False
    function = core["function"]["function"]
    if isinstance(function, type):
        return issubclass(function, SecretBytes)
    return isinstance(getattr(function, "__self__", None), EncodedBytes)


def _in_base64(core: dict[str, Any]) -> dict[str, Any]:
    """Return *core*, a schema for `bytes`, changed so that its JSON is base64."""
    inner: Any = {**core, "metadata": {**core.get("metadata", {}), BASE64: True}}
    reference = inner.pop("ref", None)
    write = plain_serializer_function_ser_schema(base64_of, when_used="json")
    # A union tries each of its types strictly first: in `bytes | str` a string stays one
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
