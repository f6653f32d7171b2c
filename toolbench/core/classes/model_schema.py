"""The complete JSON Schema of a pydantic model, without pydantic's noise.

Noise means titles that pydantic made from names, and the `null` of optional fields: callers leave
out the field instead. Constraints, defaults, enums, unions and recursion stay.
"""

from json import dumps
from math import ceil, isfinite
from typing import Any, cast
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from toolbench.jsonschema.composition.inline import inline_defs, without_unset_nulls
from toolbench.jsonschema.refs import resolve
from toolbench.jsonschema.walk import every, mapping
from toolbench.redaction.detect import is_secret
from toolbench.values import as_sent

BASE64 = "toolbench_base64"
"""The mark in the metadata of pydantic's schema of `bytes`: its JSON is base64."""
# A default that JSON cannot express
_UNSAYABLE = object()
_SIMPLE = frozenset({str, int, bool, type(None)})


class _Untitled(GenerateJsonSchema):
    """pydantic's schema generator, without invented titles and values that JSON cannot express."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Do nothing, where pydantic would warn about a value that JSON cannot express."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().dataclass_schema(schema), schema)

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return _untitled(super().typed_dict_schema(schema), schema)

    def float_schema(self, schema: Any) -> dict[str, Any]:
        limits = super().float_schema(schema).items()
        return {k: v for k, v in limits if not isinstance(v, float) or isfinite(v)}

    def bytes_schema(self, schema: Any) -> dict[str, Any]:
        if BASE64 not in schema.get("metadata", {}):
            return super().bytes_schema(schema)
        limits = (("minLength", "min_length"), ("maxLength", "max_length"))
        # Four letters for every three bytes that are begun
        lengths = {k: 4 * ceil(schema[name] / 3) for k, name in limits if name in schema}
        return {"type": "string", "contentEncoding": "base64", **lengths}

    def default_schema(self, schema: Any) -> dict[str, Any]:
        schema_of_default = super().default_schema(schema)
        if schema_of_default.get("default") is _UNSAYABLE:
            del schema_of_default["default"]
        return schema_of_default

    def encode_default(self, dft: Any) -> Any:
        # no error: pydantic would put the repr of the default into a message, and a repr may raise
        try:
            # pydantic makes an adapter for each; most defaults are JSON values anyway
            encoded = dft if type(dft) in _SIMPLE else super().encode_default(as_sent(dft))
            dumps(encoded, allow_nan=False, ensure_ascii=False).encode()
        except Exception:  # noqa: BLE001 - the default may be anything
            return _UNSAYABLE
        return encoded


def _untitled(produced: dict[str, Any], schema: Any) -> dict[str, Any]:
    if produced.get("title") == getattr(schema.get("cls"), "__name__", None):
        del produced["title"]
    return produced


_full: WeakKeyDictionary[type[BaseModel], dict[str, Any]] = WeakKeyDictionary()


def full_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of *model*; an optional field may still be `null` in it.

    Forms are built from this schema. It is cached for each class: copy it before you change it.
    """
    schema = _full.get(model)
    if schema is None:
        schema = _full[model] = _generate(model)
    return schema


def _generate(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_Untitled)
    # pydantic adds titles of enums later
    for name, definition in mapping(schema, "$defs").items():
        if definition.get("title") in (name, name.rpartition("__")[2]):
            del definition["title"]
    for _, node in every(schema):
        for name, field in mapping(node, "properties").items():
            if isinstance(field, dict) and field.get("default") and is_secret(name, field):
                # The caller need not know it
                del field["default"]
    # a model that refers to itself: callers look for `type: object` at the top
    whole, _ = resolve(schema, schema)
    return cast("dict[str, Any]", whole)


def argument_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of *model* for callers, who leave out an optional field instead of `null`.

    `$defs` stay only for types that refer to themselves; all others are copied where they are used.
    """
    return inline_defs(without_unset_nulls(full_schema(model)))
