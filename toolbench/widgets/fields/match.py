"""Guess quickly which alternative of a union a value belongs to, without compiling a validator."""

from typing import Any

from toolbench.widgets.equality import same
from toolbench.widgets.fields.folding import required_of
from toolbench.widgets.fields.view import SchemaView

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int, float),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
_DEPTH = 4
_SAMPLE = 20


def admits(view: SchemaView, schema: Any, value: Any, depth: int = _DEPTH) -> bool:
    """Tell whether *value* has the shape *schema* asks for: types, constants, required keys."""
    node = view.node(schema)
    if value is None and node.nullable:
        return True
    return _has_shape(view, node.schema, value, depth)


def _has_shape(
    view: SchemaView, schema: dict[str, Any], value: Any, depth: int
) -> bool:
    if "const" in schema:
        return same(schema["const"], value)
    if isinstance(choices := schema.get("enum"), list):
        return any(same(choice, value) for choice in choices)
    if depth == 0:
        return True
    if isinstance(branches := schema.get("anyOf"), list):
        return any(admits(view, branch, value, depth - 1) for branch in branches)
    if not has_type(schema.get("type"), value):
        return False
    if isinstance(value, dict):
        return _has_keys(view, schema, value, depth)
    if isinstance(value, list) and "items" in schema:
        sample = value[:_SAMPLE]
        return all(admits(view, schema["items"], x, depth - 1) for x in sample)
    return True


def has_type(kind: Any, value: Any) -> bool:
    """Tell whether *value* is of the JSON type *kind*; any value is when *kind* is none."""
    if not isinstance(kind, str) or kind not in _TYPES:
        return True
    if isinstance(value, bool):
        return bool(kind == "boolean")
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _has_keys(
    view: SchemaView, schema: dict[str, Any], value: dict[str, Any], depth: int
) -> bool:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    if any(name not in value for name in required_of(schema)):
        return False
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        return False
    return all(
        admits(view, sub, value[name], depth - 1)
        for name, sub in known.items()
        if name in value
    )


def constants_agree(view: SchemaView, schema: Any, value: Any) -> bool:
    """Tell whether *value* carries a discriminator of *schema*, and none that contradicts it."""
    properties = view.node(schema).schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return False
    verdicts = [
        _has_shape(view, found, value[name], 1)
        for name, sub in properties.items()
        if name in value and (found := view.node(sub).schema).keys() & {"const", "enum"}
    ]
    return bool(verdicts) and all(verdicts)
