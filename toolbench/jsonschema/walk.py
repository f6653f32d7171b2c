"""Walk through a JSON Schema: read its keywords, find the schemas inside it, rewrite it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbench.jsonschema.types import Json, Schema
from toolbench.values import copied

ALTERNATIVES = ("anyOf", "oneOf")
"""The keywords that list schemas of which a value has to fit one."""
TOGETHER = ("allOf", *ALTERNATIVES)
"""The keywords that list schemas for the same value as the schema that has the keyword."""
COMPOSITION = ("$ref", *TOGETHER)
"""The keywords by which a schema is made of other schemas for the same value."""
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer to another schema for the same value."""
CASES = ("if", "then", "else")
"""The keywords with a schema that tests the same value, or describes it in some cases."""
DEPENDENT = ("dependentSchemas", "dependencies")
"""The keywords with schemas for the same value, each for the case that it has a certain property."""
DEFINITIONS = ("$defs", "definitions")
"""The keywords with schemas that describe a value only where a reference leads to them."""
MAPPINGS = (
    "properties",
    "patternProperties",
    *DEFINITIONS,
    "dependentSchemas",
)
LISTS = (*TOGETHER, "prefixItems")
SINGLE = (
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_HOLDERS = frozenset((*MAPPINGS, *LISTS, *SINGLE))


# --- the keywords of one schema -----------------------------------------------------


def mapping(schema: Schema, key: str) -> Schema:
    """Return the object under *key* in *schema*; an empty object if there is none."""
    value = schema.get(key)
    return value if isinstance(value, Mapping) else {}


def sequence(schema: Schema, key: str) -> list[Any]:
    """Return the list under *key* in *schema*; an empty list if there is none."""
    value = schema.get(key)
    return value if isinstance(value, list) else []


def types_of(schema: Schema) -> list[str]:
    """Return the types that *schema* names, in the same order."""
    names = schema.get("type")
    if not isinstance(names, list):
        names = [names]
    return [name for name in names if isinstance(name, str)]


def required_of(schema: Schema) -> list[str]:
    """Return the names of the properties that *schema* requires."""
    return [name for name in sequence(schema, "required") if isinstance(name, str)]


# --- the schemas of the same value --------------------------------------------------


def reference_in(schema: Schema) -> tuple[Any, Schema]:
    """Return the `$ref` of *schema* (None if it has none), and its other keywords."""
    return schema.get("$ref"), without(schema, "$ref")


def conjunction_in(schema: Schema) -> tuple[list[Any], Schema]:
    """Return the schemas in `allOf` of *schema*, and the other keywords."""
    return sequence(schema, "allOf"), without(schema, "allOf")


def alternatives_in(schema: Schema) -> tuple[str, list[Any], Schema]:
    """Return the keyword of *schema* that lists alternatives, the alternatives, and the other keywords.

    If *schema* has several such keywords, the first counts. If it has none, the keyword is empty.
    """
    for keyword in ALTERNATIVES:
        if keyword in schema:
            return keyword, sequence(schema, keyword), without(schema, keyword)
    return "", [], schema


def without(schema: Schema, *keywords: str) -> Schema:
    """Return *schema* without *keywords*; the same object if it has none of them."""
    if schema.keys().isdisjoint(keywords):
        return schema
    rest = dict(schema)
    for keyword in keywords:
        rest.pop(keyword, None)
    return rest


# --- the schemas inside a schema ----------------------------------------------------


def children(schema: Schema, where: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each schema directly inside *schema*: its keyword, its place in the value, and itself.

    *where* is the place of *schema* itself, such as `items[].name`.
    """
    for key, value in schema.items():
        if key in _HOLDERS:
            for _, place, part in _parts_under(key, value, where):
                yield key, place, part


def _parts_under(key: str, value: Any, where: str) -> Iterator[tuple[str | None, str, Any]]:
    """Yield each schema in *value*, the value of the keyword *key*: its name, its place and itself."""
    place = where
    if key in MAPPINGS and isinstance(value, Mapping):
        for name, part in value.items():
            if key == "properties":
                place = f"{where}.{name}" if where else name
            yield name, place, part
        return
    if key in ("items", "prefixItems"):
        place = f"{where}[]"
    if isinstance(value, list):
        for part in value:
            yield None, place, part
    elif key in SINGLE:
        yield None, place, value


def every(schema: Any, where: str = "") -> Iterator[tuple[str, Json]]:
    """Yield *schema* and every schema inside it that is an object, each with its place in the value."""
    todo = [(where, schema)]
    while todo:
        place, part = todo.pop()
        if isinstance(part, dict):
            yield place, part
            inside = list(children(part, place))
            for _, inner, sub in reversed(inside):
                todo.append((inner, sub))


def says_secret(schema: Any) -> bool:
    """Tell whether *schema* itself says that its value is a secret: `format: password`, `writeOnly`."""
    if not isinstance(schema, Mapping):
        return False
    return schema.get("format") == "password" or schema.get("writeOnly") is True


def rewritten(schema: Any, change: Callable[[Json, str], Json], where: str = "") -> Any:
    """Return a copy of *schema* in which each schema was replaced by *change*, the inner ones first.

    *change* gets a schema and its place in the value. Other values (a default, an example, an
    extension) are copied unchanged.
    """
    if not isinstance(schema, dict):
        return schema
    copy: Json = {}
    for key, value in schema.items():
        parts = []
        if key in _HOLDERS:
            for name, place, part in _parts_under(key, value, where):
                parts.append((name, rewritten(part, change, place)))
        if not parts:
            # No schemas, though the keyword may be one that should hold some
            copy[key] = copied(value)
        elif isinstance(value, list):
            copy[key] = [part for _, part in parts]
        elif key in MAPPINGS:
            copy[key] = dict(parts)
        else:
            copy[key] = parts[0][1]
    return change(copy, where)
