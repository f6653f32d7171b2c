"""Make a class out of a JSON Schema that somebody else wrote.

The schema itself decides what is accepted (jsonschema-rs, nothing translated, nothing lost);
the typed fields on top are there for reading. Names from the schema never become attributes
unless they are safe ones.
"""

from collections.abc import Mapping
from copy import deepcopy
from keyword import iskeyword
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

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


def foreign_model(
    base: type[ModelT], name: str, schema: Mapping[str, Any]
) -> type[ModelT]:
    """Return a subclass of *base* that accepts exactly the objects *schema* accepts.

    Raises:
        SchemaError: If *schema* is no valid JSON Schema, or refers to another document.
    """
    if not isinstance(schema, Mapping):
        msg = f"An input schema is a JSON object, not {schema!r}."
        raise SchemaError(msg)
    schema = deepcopy(dict(schema))
    check = _checks(validator_of(schema))
    model: type[ModelT] = create_model(
        name,
        __base__=base,
        __module__=base.__module__,
        __validators__=check,
        **_fields(base, schema),
    )
    model.model_config = ConfigDict(**{**model.model_config, "extra": "allow"})
    model.foreign_schema = schema  # type: ignore[attr-defined]  # a Schema has it
    model.model_rebuild(force=True)
    return model


def _checks(validator: SchemaValidator) -> dict[str, Any]:
    def check(cls: Any, value: Any) -> Any:
        problems = validator.problems(value)
        if problems:
            raise ValidationError.from_exception_data(
                cls.__name__, [_line(problem, value) for problem in problems]
            )
        return value

    return {"_check": model_validator(mode="before")(_classmethod(check))}


_classmethod: Any = classmethod  # pydantic's stubs do not know the builtin's type


def _line(problem: Problem, value: Any) -> InitErrorDetails:
    misfit = PydanticCustomError(
        "json_schema", "{sentence}", {"sentence": problem.message}
    )
    return InitErrorDetails(type=misfit, loc=problem.path, input=value)


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
    fields: dict[str, Any] = {}
    for name, sub in properties.items():
        attribute = safe_attribute(name, {*dir(base), *fields})
        note = sub.get("description") if isinstance(sub, Mapping) else None
        fields[attribute] = (
            Annotated[_python_type(sub), _AsItCame],
            Field(
                None, alias=name, description=note if isinstance(note, str) else None
            ),
        )
    return fields


def safe_attribute(name: str, taken: set[str]) -> str:
    """Return the attribute for the property *name*: the same where that is safe."""
    letters = "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_")
    plain = letters if letters.isidentifier() else f"field_{letters}".rstrip("_")
    if iskeyword(plain) or plain in taken or plain.startswith("model_"):
        plain += "_"
    unique, n = plain, 2
    while unique in taken:
        unique, n = f"{plain}{n}", n + 1
    return unique


def _python_type(schema: Any) -> Any:
    named = schema.get("type") if isinstance(schema, Mapping) else None
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not all(
        isinstance(n, str) and n in _TYPES for n in names
    ):
        return Any
    union: Any = None  # an optional property reads as None when unset
    for n in names:
        union = _TYPES[n] if union is None else union | _TYPES[n]
    return union | None if union is not None else None
