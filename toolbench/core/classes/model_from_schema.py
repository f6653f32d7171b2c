"""Make an Action or Observation class from a JSON Schema that another program wrote.

The original schema validates the values, with jsonschema-rs; no rule is translated or lost. The
type hints of the fields are only for people and editors. A property whose name is not safe as an
attribute gets an attribute with a similar name.
"""

from collections.abc import Mapping
from copy import deepcopy
from keyword import iskeyword
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
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from toolbench.core.classes.model_schema import argument_schema
from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.composition.merge import together
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.types import CLASSES
from toolbench.jsonschema.validation.validator import SchemaValidator, validator_of
from toolbench.jsonschema.view import read

ModelT = TypeVar("ModelT", bound=BaseModel)

_HINTS: Mapping[type, Any] = {list: list[Any], dict: dict[str, Any]}
"""The type hints of `list` and `dict`, with the types of their items."""


class Open(BaseModel):
    """A mixin for classes that also accept arguments without a field."""

    model_config = ConfigDict(extra="allow")


def foreign_model(
    base: type[ModelT],
    name: str,
    schema: Mapping[str, Any],
    *,
    module: str,
    place: str,
) -> type[ModelT]:
    """Return a subclass of *base* that accepts exactly the objects *schema* accepts.

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
    bases: Any = (base, Open)
    model: Any = create_model(
        name,
        __base__=bases,
        __module__=module,
        __qualname__=place,
        __validators__=_checks(validator),
        foreign_schema=(ClassVar[dict[str, Any]], own),
        **_fields(base, own),
    )
    return cast("type[ModelT]", model)


def _checks(validator: SchemaValidator) -> dict[str, Any]:
    def check(cls: Any, value: Any) -> Any:
        if isinstance(value, Mapping) and not isinstance(value, dict):
            value = dict(value)
        judged, own = value, _own_names(cls)
        if own and isinstance(value, dict):
            judged = {k: v for k, v in value.items() if k not in own}
        if validator.is_valid(judged):
            return value
        lines = [misfit_line(problem, value) for problem in validator.problems(judged)]
        raise ValidationError.from_exception_data(cls.__name__, lines)

    return {"_check": model_validator(mode="before")(_classmethod(check))}


# pydantic's stubs do not know the builtin's type
_classmethod: Any = classmethod


def misfit_line(problem: Problem, value: Any) -> InitErrorDetails:
    """Return the detail of a `ValidationError` about *problem* of *value*; it keeps its sentence."""
    misfit = PydanticCustomError("json_schema", "{sentence}", {"sentence": problem.message})
    return InitErrorDetails(type=misfit, loc=problem.path, input=value)


_own: WeakKeyDictionary[type[BaseModel], frozenset[str]] = WeakKeyDictionary()


def _own_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of the fields of *model* that do not come from its JSON Schema."""
    names = _own.get(model)
    if names is None:
        fields = model.model_fields.items()
        theirs = {f.alias for _, f in fields if _AsItCame in f.metadata}
        ours = {f.alias or n for n, f in fields if _AsItCame not in f.metadata}
        names = _own[model] = frozenset(ours - theirs)
    return names


def extended_schema(model: type[BaseModel]) -> dict[str, Any] | None:
    """Return the JSON Schema that *model* was made from, extended by the fields that a subclass added.

    Copy the schema before you change it. The result is None if *model* was not made from a schema.
    """
    schema: dict[str, Any] | None = getattr(model, "foreign_schema", None)
    if schema is None:
        return None
    base = next(c for c in model.__mro__ if "foreign_schema" in c.__dict__)
    names = _own_names(model) - _own_names(base)
    if not names:
        return schema
    ours = argument_schema(model)
    node = read(ours)
    added = {n: part for n, part in node.declared.raw.items() if n in names}
    required = [name for name in node.required if name in names]
    schema = together(schema, {"properties": added, "required": required})
    return together({k: ours[k] for k in ours if k == "$defs"}, schema)


class _AsItCame:
    """A mark on a field: pydantic does not check or convert its value; the JSON Schema checked it."""

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
    """Return a safe attribute name for the property *name*; the same name if possible."""
    letters = "".join(c if f"a{c}".isidentifier() else "_" for c in name).strip("_")
    plain = letters if letters.isidentifier() else f"field_{letters}".rstrip("_")
    if iskeyword(plain) or plain in names:
        plain += "_"
    unique, n = plain, 2
    while unique in names:
        unique, n = f"{plain}{n}", n + 1
    return unique


def _python_type(node: Node) -> Any:
    """Return the Python type nearest to *node*, as a hint for people and editors."""
    if not node.types:
        return Any
    kinds = (*node.types, "null") if node.takes_null else node.types
    classes = [CLASSES[kind] for kind in kinds]
    return Union[tuple(_HINTS.get(c, c) for c in classes)]  # noqa: UP007 - any number of types
