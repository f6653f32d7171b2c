"""Bytes of an action or observation: base64 in JSON, at any depth.

pydantic takes the letters of a text as the bytes, so a file that a form or a model sends as base64
would reach the tool as letters. The models and dataclasses inside an action are read in the same way, but
they stay as they are where they are used alone.
"""

from typing import Any, LiteralString

from pydantic import BaseModel, EncodedBytes, SecretBytes
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

from toolbench.core.classes.known_names import NO_SCHEMAS, cores
from toolbench.core.foreign import BASE64
from toolbench.values import base64_of, bytes_in

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
