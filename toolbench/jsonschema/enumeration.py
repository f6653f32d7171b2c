"""The values that a schema lists, without those that it refuses itself."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolbench.jsonschema.composition.merge import listed_values
from toolbench.jsonschema.types import TYPES, Json, types_of_value
from toolbench.jsonschema.walk import COMPOSITION, LISTS, MAPPINGS, SINGLE, types_of
from toolbench.jsonschema.words import LIMITING

if TYPE_CHECKING:  # a node has values
    from toolbench.jsonschema.normal import Node

# beside one of these, a listed value may be refused
_JUDGING = frozenset((*MAPPINGS, *LISTS, *SINGLE, *LIMITING, "required")) - {
    "$defs",
    "definitions",
}


def accepted_values(node: "Node") -> list[tuple[Any, str]]:
    """Return the values *node* lists and takes, each with its name, empty without one."""
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
    """Return those of *values* that *node* takes; all of them where its schema is broken."""
    raw = node.raw
    composed = isinstance(raw, dict) and not raw.keys().isdisjoint(COMPOSITION)
    if not composed and node.schema.keys().isdisjoint(_JUDGING):
        return (
            values  # nothing else is asked for: most are like that, and it is quicker
        )
    return [value for value in values if not node.problems(value)]


def takes_nothing(node: "Node") -> bool:
    """Tell whether no value fits *node*, as far as that is plain to see."""
    if node.schema.keys().isdisjoint(("const", "enum")):
        return bool(node.schema == {"not": {}})
    return not node.values


def has_type(value: Any, types: Iterable[str]) -> bool:
    """Tell whether *value* is of one of *types*; any value is where none of them is known."""
    known = TYPES & {*types}
    return not known or not known.isdisjoint(types_of_value(value))


def with_values_of_its_types(schema: Json) -> Json:
    """Return *schema* without the values in `enum` that are of none of its types."""
    values, types = schema.get("enum"), types_of(schema)
    if schema.get("nullable") is True and types:  # as OpenAPI writes it
        types = [*types, "null"]
    if not isinstance(values, list) or all(has_type(value, types) for value in values):
        return schema
    places = [i for i, value in enumerate(values) if has_type(value, types)]
    rest = {**schema, "enum": [values[i] for i in places]}
    names = schema.get("enumNames")
    if isinstance(names, list) and len(names) == len(values):
        rest["enumNames"] = [names[i] for i in places]
    return rest
