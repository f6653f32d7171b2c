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


def admits(view: SchemaView, schema: Any, value: Any) -> bool:
    """Tell whether *value* has the shape *schema* asks for: types, constants, required keys."""
    return _Matcher(view).admits(schema, value, _DEPTH)


class _Matcher:
    """Compares each part of a schema with each part of a value once, however often they meet."""

    def __init__(self, view: SchemaView) -> None:
        self._view = view
        self._known: dict[tuple[int, int], bool] = {}

    def admits(self, schema: Any, value: Any, depth: int) -> bool:
        pair = (id(schema), id(value))
        if pair not in self._known:
            node = self._view.node(schema)
            fits = value is None and node.nullable
            self._known[pair] = fits or self._has_shape(node.schema, value, depth)
        return self._known[pair]

    def _has_shape(self, schema: dict[str, Any], value: Any, depth: int) -> bool:
        if "const" in schema:
            return same(schema["const"], value)
        if isinstance(choices := schema.get("enum"), list):
            return any(same(choice, value) for choice in choices)
        if depth == 0:
            return True
        if isinstance(branches := schema.get("anyOf"), list):
            return any(self.admits(branch, value, depth - 1) for branch in branches)
        if not has_type(schema.get("type"), value):
            return False
        if isinstance(value, dict):
            return self._has_keys(schema, value, depth)
        if isinstance(value, list) and "items" in schema:
            sample = value[:_SAMPLE]
            return all(self.admits(schema["items"], x, depth - 1) for x in sample)
        return True

    def _has_keys(
        self, schema: dict[str, Any], value: dict[str, Any], depth: int
    ) -> bool:
        properties = schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        if any(name not in value for name in required_of(schema)):
            return False
        if schema.get("additionalProperties") is False and value.keys() - known.keys():
            return False
        return all(
            self.admits(sub, value[name], depth - 1)
            for name, sub in known.items()
            if name in value
        )


def has_type(kind: Any, value: Any) -> bool:
    """Tell whether *value* is of the JSON type *kind*; any value is when *kind* is none."""
    if not isinstance(kind, str) or kind not in _TYPES:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def constants_agree(view: SchemaView, schema: Any, value: Any) -> bool:
    """Tell whether *value* carries a discriminator of *schema*, and none that contradicts it."""
    properties = view.node(schema).schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return False
    verdicts = [
        admits(view, sub, value[name])
        for name, sub in properties.items()
        if name in value and view.node(sub).schema.keys() & {"const", "enum"}
    ]
    return bool(verdicts) and all(verdicts)
