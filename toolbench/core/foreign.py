"""Make a class out of a JSON Schema that somebody else wrote.

The schema itself decides what is accepted (jsonschema-rs, nothing translated, nothing lost);
the typed fields on top are there for reading. Names from the schema never become attributes
unless they are safe ones.
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

from toolbench.core.jsonschema import argument_schema
from toolbench.core.validation import SchemaValidator, validator_of
from toolbench.errors import Problem, SchemaError

ModelT = TypeVar("ModelT", bound=BaseModel)

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
    "null": None,
}


class Open(BaseModel):
    """Mixed in, lets a class keep arguments that are not among its fields."""

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
        base: The class, Action or Observation.
        name: The name of the new class.
        schema: What it accepts.
        module: Where the new class counts as defined.
        place: Its qualified name there.

    Raises:
        SchemaError: If *schema* is no valid JSON Schema, or refers to another document.
    """
    if not isinstance(schema, Mapping):
        msg = f"An input schema is a JSON object, not {schema!r}."
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
        lines = [_line(problem, value) for problem in validator.problems(judged)]
        raise ValidationError.from_exception_data(cls.__name__, lines)

    return {"_check": model_validator(mode="before")(_classmethod(check))}


_classmethod: Any = classmethod  # pydantic's stubs do not know the builtin's type


def _line(problem: Problem, value: Any) -> InitErrorDetails:
    misfit = PydanticCustomError(
        "json_schema", "{sentence}", {"sentence": problem.message}
    )
    return InitErrorDetails(type=misfit, loc=problem.path, input=value)


_own: WeakKeyDictionary[type[BaseModel], frozenset[str]] = WeakKeyDictionary()


def _own_names(model: type[BaseModel]) -> frozenset[str]:
    """The names that *model* has fields of its own for: the schema knows nothing of them."""
    names = _own.get(model)
    if names is None:
        fields = model.model_fields.items()
        theirs = {f.alias for _, f in fields if _AsItCame in f.metadata}
        ours = {f.alias or n for n, f in fields if _AsItCame not in f.metadata}
        names = _own[model] = frozenset(ours - theirs)
    return names


def extended_schema(model: type[BaseModel]) -> dict[str, Any] | None:
    """Return the schema *model* was made from, with the fields a subclass added, if any."""
    schema = deepcopy(getattr(model, "foreign_schema", None))
    if schema is None:
        return None
    made = next(c for c in model.__mro__ if "foreign_schema" in c.__dict__)
    names = _own_names(model) - _own_names(made)
    if not names:
        return cast("dict[str, Any]", schema)
    ours = argument_schema(model)
    added = {n: sub for n, sub in ours["properties"].items() if n in names}
    required = [n for n in ours.get("required", ()) if n in names]
    schema["properties"] = {**schema.get("properties", {}), **added}
    schema["required"] = [*schema.get("required", ()), *required]
    if "$defs" in ours:
        schema["$defs"] = {**ours["$defs"], **schema.get("$defs", {})}
    return cast("dict[str, Any]", schema)


class _AsItCame:
    """Marks a field whose value is kept untouched, in and out: the JSON Schema has judged it."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: Any
    ) -> core_schema.CoreSchema:
        return core_schema.any_schema()


def _fields(base: type[BaseModel], schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    required = schema.get("required", ())
    taken = {*dir(base), *base.model_fields}
    fields: dict[str, Any] = {}
    for name, sub in properties.items():
        attribute = safe_attribute(name, taken)
        taken.add(attribute)
        note = sub.get("description") if isinstance(sub, Mapping) else None
        about = note if isinstance(note, str) else None
        hint, default = _python_type(sub), cast("Any", ...)
        if name not in required:  # reads as None when unset
            hint, default = hint | None, None
        fields[attribute] = (
            Annotated[hint, _AsItCame],
            Field(default, alias=name, description=about),
        )
    return fields


def safe_attribute(name: str, taken: set[str]) -> str:
    """Return the attribute for the property *name*: the same where that is safe."""
    letters = "".join(c if f"a{c}".isidentifier() else "_" for c in name).strip("_")
    plain = letters if letters.isidentifier() else f"field_{letters}".rstrip("_")
    if iskeyword(plain) or plain in taken:
        plain += "_"
    unique, n = plain, 2
    while unique in taken:
        unique, n = f"{plain}{n}", n + 1
    return unique


def _python_type(schema: Any) -> Any:
    """The nearest Python type of what *schema* accepts, for people and editors to read."""
    named = schema.get("type") if isinstance(schema, Mapping) else None
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not all(n in _TYPES for n in names):
        return Any
    return Union[tuple(_TYPES[n] for n in names)]  # noqa: UP007 - of any number
