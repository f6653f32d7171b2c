"""The values that a schema lists, without those that the schema itself refuses."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolbench.jsonschema.composition.merge import listed_values
from toolbench.jsonschema.types import TYPES, Json, types_of_value
from toolbench.jsonschema.walk import COMPOSITION, LISTS, MAPPINGS, SINGLE, types_of
from toolbench.jsonschema.words import LIMITING

# The node module imports this one
if TYPE_CHECKING:
    from toolbench.jsonschema.normal import Node

# if the schema has one of these keywords, it may refuse a listed value
_JUDGING = frozenset((*MAPPINGS, *LISTS, *SINGLE, *LIMITING, "required")) - {
    "$defs",
    "definitions",
}


def accepted_values(node: "Node") -> list[tuple[Any, str]]:
    """Return the listed values that *node* accepts, each with its name, which may be empty."""
    values = listed_values(node.schema)
    if not values:
        return []
    names = node.schema.get("enumNames")
    if not isinstance(names, list) or len(names) != len(values):
        names = [""] * len(values)
    pairs = [
        (value, name if isinstance(name, str) else "")
        for value, name in zip(values, names, strict=True)
        if has_type(value, types_of(node.schema))
    ]
    fitting = accepted(node, [value for value, _ in pairs])
    return pairs if len(fitting) == len(pairs) else _of(pairs, fitting)


def _of(pairs: list[tuple[Any, str]], fitting: list[Any]) -> list[tuple[Any, str]]:
    known = {id(value) for value in fitting}
    return [pair for pair in pairs if id(pair[0]) in known]


def accepted(node: "Node", values: list[Any]) -> list[Any]:
    """Return the items of *values* that *node* accepts; all items if the schema is broken."""
    raw = node.raw
    composed = isinstance(raw, dict) and not raw.keys().isdisjoint(COMPOSITION)
    if not composed and node.schema.keys().isdisjoint(_JUDGING):
        # There are no other rules: the usual case, quickly checked
        return values
    return [value for value in values if not node.problems(value)]


def lists_null(node: "Node") -> bool:
    """Tell whether *node*, as it is written, has null among its listed values."""
    return isinstance(node.raw, dict) and None in (listed_values(node.raw) or ())


def takes_nothing(node: "Node") -> bool:
    """Tell whether *node* accepts no value at all; only simple cases are recognised."""
    if node.schema.keys().isdisjoint(("const", "enum")):
        return bool(node.schema == {"not": {}})
    return not node.values


def has_type(value: Any, types: Iterable[str]) -> bool:
    """Tell whether *value* has one of *types*; True also if all *types* are unknown."""
    known = TYPES & {*types}
    return not known or not known.isdisjoint(types_of_value(value))


def with_values_of_its_types(schema: Json) -> Json:
    """Return *schema* without the values in `enum` that have none of the types of *schema*."""
    values, types = schema.get("enum"), types_of(schema)
    # As OpenAPI writes it
    if schema.get("nullable") is True and types:
        types = [*types, "null"]
    if not isinstance(values, list) or all(has_type(value, types) for value in values):
        return schema
    places = [i for i, value in enumerate(values) if has_type(value, types)]
    rest = {**schema, "enum": [values[i] for i in places]}
    names = schema.get("enumNames")
    if isinstance(names, list) and len(names) == len(values):
        rest["enumNames"] = [names[i] for i in places]
    return rest
