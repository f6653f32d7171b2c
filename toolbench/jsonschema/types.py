"""The only table of JSON's types and the Python classes of their values."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
Schema = Mapping[str, Any]

CLASSES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
"""The Python class of the values of each JSON type."""
TYPES = frozenset(CLASSES)
_TYPE_OF = {class_: name for name, class_ in CLASSES.items()}


def type_of(value: Any) -> str | None:
    """Return the JSON type of *value*; None if *value* is not JSON.

    The notation decides about numbers: 1 is an integer, and 1.0 is a number.
    """
    for class_ in type(value).__mro__:
        if class_ in _TYPE_OF:
            return _TYPE_OF[class_]
    return None


def types_of_value(value: Any) -> frozenset[str]:
    """Return all JSON types that *value* has: 1 and 1.0 are each an integer and a number."""
    name = type_of(value)
    if name is None:
        return frozenset()
    if name == "integer" or (name == "number" and value.is_integer()):
        return frozenset({"integer", "number"})
    return frozenset({name})


def json_key(value: Any) -> Any:
    """Return a hashable key for *value*. Values that are equal in JSON have the same key.

    For example, 1 and 1.0 are equal in JSON, but 1 and true are different.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(json_key, value))
    if isinstance(value, Mapping):
        return frozenset(zip(value, map(json_key, value.values()), strict=True))
    if type_of(value) is None:
        return ("other", id(value))
    return value


def with_properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with the keyword `properties`, which may be empty.

    OpenAI requires this keyword.
    """
    whole = dict(schema)
    whole.setdefault("properties", {})
    return whole
