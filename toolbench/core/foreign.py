"""Convert between classes and JSON Schemas, including schemas of other programs."""

import re
from collections.abc import Mapping
from copy import deepcopy
from json import dumps
from keyword import iskeyword
from math import ceil, isfinite
from typing import Annotated, Any, ClassVar, TypeVar, Union, cast
from weakref import WeakKeyDictionary

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.compose import inline_defs, resolve, without_unset_nulls
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.types import CLASSES
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.jsonschema.walk import every, mapping
from toolbench.redaction.detect import is_secret
from toolbench.values import as_sent

BASE64 = "toolbench_base64"
"""The key in the metadata of pydantic's schema for `bytes` that says that their JSON is base64."""
# A default that JSON cannot express
_UNSAYABLE = object()
_SIMPLE = frozenset({str, int, bool, type(None)})
# The module of Action and Observation, which imports this one
_BASES = "toolbench.core.schema"


class _Untitled(GenerateJsonSchema):
    """pydantic's generator, without invented titles and without values that JSON cannot express."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Suppress pydantic's warning about a value that JSON cannot express."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        described = super().model_schema(schema)
        # The docstrings of our base classes are for programmers, and describe no arguments
        if schema["cls"].__module__ == _BASES:
            described.pop("description", None)
        return described

    def float_schema(self, schema: Any) -> dict[str, Any]:
        limits = super().float_schema(schema).items()
        return {k: v for k, v in limits if not isinstance(v, float) or isfinite(v)}

    def bytes_schema(self, schema: Any) -> dict[str, Any]:
        if BASE64 not in schema.get("metadata", {}):
            return super().bytes_schema(schema)
        text: dict[str, Any] = {"type": "string", "contentEncoding": "base64"}
        for keyword, limit in (("minLength", "min_length"), ("maxLength", "max_length")):
            if limit in schema:
                # Four letters for every three bytes that are begun
                text[keyword] = 4 * ceil(schema[limit] / 3)
        return text

    def default_schema(self, schema: Any) -> dict[str, Any]:
        schema_of_default = super().default_schema(schema)
        if schema_of_default.get("default") is _UNSAYABLE:
            del schema_of_default["default"]
        return schema_of_default

    def encode_default(self, dft: Any) -> Any:
        # no error: pydantic would put the repr of the default into a message, and a repr may raise
        try:
            encoded = dft
            # pydantic makes an adapter for each; most defaults are JSON values anyway
            if type(dft) not in _SIMPLE:
                encoded = super().encode_default(as_sent(dft))
            dumps(encoded, allow_nan=False, ensure_ascii=False).encode()
        except Exception:  # noqa: BLE001 - the default may be anything
            return _UNSAYABLE
        return encoded


_full: WeakKeyDictionary[type[BaseModel], dict[str, Any]] = WeakKeyDictionary()


def full_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of *model* in which optional fields may also be `null`.

    Forms are built from this schema. The result is cached, so copy it before you change it.
    """
    schema = _full.get(model)
    if schema is None:
        schema = _full[model] = _generate(model)
    return schema


def _generate(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_Untitled)
    root = _definition_name(model.__name__)
    for name, definition in [(root, schema), *mapping(schema, "$defs").items()]:
        title = _definition_name(definition.get("title", ""))
        # Of two classes with one name, the definitions have the modules in their names too
        if title in (name, name.rpartition("__")[2]):
            definition.pop("title", None)
    for _, node in every(schema):
        for name, field in mapping(node, "properties").items():
            if isinstance(field, dict) and field.get("default") and is_secret(name, read(field)):
                # The caller need not know it
                del field["default"]
    # a model that refers to itself: callers look for `type: object` at the top
    whole, _ = resolve(schema, schema)
    return cast("dict[str, Any]", whole)


def _definition_name(title: str) -> str:
    """Return the `$defs` name for a class with this *title*, such as `Box_int_` for `Box[int]`."""
    return re.sub(r"[^a-zA-Z0-9.\-_]", "_", title)


def argument_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of *model* for callers, which omit optional fields.

    Unlike in `full_schema`, an optional field may not be `null`. References to `$defs` are replaced
    by the schemas that they refer to, except in types that contain themselves.
    """
    return inline_defs(without_unset_nulls(full_schema(model)))


# --- classes from JSON Schemas ---------------------------------------------------------
# jsonschema-rs validates values against the original schema, so no rule is translated or lost. The
# type hints of the fields are only for readers and editors. A property whose name is not safe as an
# attribute gets an attribute with a similar name.

ModelT = TypeVar("ModelT", bound=BaseModel)

_HINTS: Mapping[str, Any] = {**CLASSES, "array": list[Any], "object": dict[str, Any]}
"""The type hint for each JSON type."""


class Open(BaseModel):
    """A mixin for classes that accept arguments for which they have no field."""

    model_config = ConfigDict(extra="allow")


def foreign_model(
    base: type[ModelT],
    name: str,
    schema: Mapping[str, Any],
    *,
    module: str,
    place: str,
) -> type[ModelT]:
    """Return a subclass of *base* that accepts exactly the objects that *schema* accepts.

    Args:
        base: The class to extend, mostly Action or Observation.
        name: The name of the new class.
        schema: The JSON Schema of the new class.
        module: The module of the new class.
        place: The qualified name of the new class in its module.

    Raises:
        SchemaError: If *schema* is not a valid JSON Schema, or refers to another document.
    """
    if not isinstance(schema, Mapping):
        msg = f"An input schema must be a JSON object, not {schema!r}."
        raise SchemaError(msg)
    validator = validator_of(dict(schema))
    own = deepcopy(dict(schema))
    ours = {field.alias or name for name, field in base.model_fields.items()}
    names = frozenset(ours.difference(read(own).properties))
    bases: Any = (base, Open)
    model: Any = create_model(
        name,
        __base__=bases,
        __module__=module,
        __qualname__=place,
        __validators__=_checks(validator, names),
        foreign_schema=(ClassVar[dict[str, Any]], own),
        **_fields(base, own),
    )
    return cast("type[ModelT]", model)


def _checks(validator: SchemaValidator, ours: frozenset[str]) -> dict[str, Any]:
    """Return a check for a pydantic class, which applies *validator* to all fields but *ours*.

    *ours* are the fields of the base class, about which the JSON Schema says nothing.
    """

    def check(cls: Any, value: Any) -> Any:
        judged = value
        if isinstance(value, Mapping):
            judged = {name: part for name, part in value.items() if name not in ours}
        if validator.is_valid(judged):
            return value
        lines = [misfit_line(problem, value) for problem in validator.problems(judged)]
        raise ValidationError.from_exception_data(cls.__name__, lines)

    return {"_check": model_validator(mode="before")(_classmethod(check))}


# pydantic's stubs do not know the builtin's type
_classmethod: Any = classmethod


def misfit_line(problem: Problem, value: Any) -> InitErrorDetails:
    """Return *problem* of *value* as a detail of a `ValidationError`, with its own message."""
    misfit = PydanticCustomError("json_schema", "{sentence}", {"sentence": problem.message})
    return InitErrorDetails(type=misfit, loc=problem.path, input=value)


class _AsItCame:
    """A mark for fields that the JSON Schema checks, and pydantic must not check or convert."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.any_schema()


def _fields(base: type[BaseModel], schema: Mapping[str, Any]) -> dict[str, Any]:
    whole = read(schema)
    names = {*dir(base), *base.model_fields}
    fields: dict[str, Any] = {}
    for name, node in whole.properties.items():
        attribute = safe_attribute(name, names)
        names.add(attribute)
        hint, default = _python_type(node), cast("Any", ...)
        # None if unset
        if name not in whole.required:
            hint, default = hint | None, None
        fields[attribute] = (
            Annotated[hint, _AsItCame],
            Field(default, alias=name, description=node.description or None),
        )
    return fields


def safe_attribute(name: str, names: set[str]) -> str:
    """Return an attribute name for the property *name* that is valid and not in *names*."""
    letters = "".join(c if f"a{c}".isidentifier() else "_" for c in name).strip("_")
    plain = letters if letters.isidentifier() else f"field_{letters}".rstrip("_")
    if iskeyword(plain) or plain in names:
        plain += "_"
    unique, n = plain, 2
    while unique in names:
        unique, n = f"{plain}{n}", n + 1
    return unique


def _python_type(node: Node) -> Any:
    """Return the Python type nearest to *node*, as a hint for readers and editors."""
    if not node.types:
        return Any
    hints = [_HINTS[kind] for kind in node.types]
    if node.takes_null:
        hints.append(None)
    return Union[tuple(hints)]  # noqa: UP007 - any number of types
