"""Ways through a JSON Schema: every schema in it, a local reference, a rewritten copy."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbench.core.references import MISSING, follow

Json = dict[str, Any]

NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = (
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_HOLDERS = frozenset((*NAMED, *LISTED, *SINGLE))


def children(node: Mapping[str, Any], where: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the schemas right inside *node*: the keyword, where the schema applies, itself."""
    for key, held in node.items():
        if key not in _HOLDERS:
            continue
        if key == "properties" and isinstance(held, Mapping):
            for name, sub in held.items():
                yield key, f"{where}.{name}" if where else name, sub
        elif key in NAMED and isinstance(held, Mapping):
            yield from ((key, where, sub) for sub in held.values())
        elif isinstance(held, list):
            inner = f"{where}[]" if key in ("items", "prefixItems") else where
            yield from ((key, inner, sub) for sub in held)
        elif key in SINGLE:
            yield key, f"{where}[]" if key == "items" else where, held


def every(schema: Any, where: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every schema in *schema* that is an object, itself first, and where it applies."""
    if isinstance(schema, dict):
        yield where, schema
        for _, place, sub in children(schema, where):
            yield from every(sub, place)


def rewritten(node: Any, change: Callable[[Json, str], Json], where: str = "") -> Any:
    """Return a copy of *node* in which *change* has made over every schema, inner ones first."""
    if not isinstance(node, dict):
        return node
    copy: Json = {}
    for key, held in node.items():
        if key == "properties" and isinstance(held, dict):
            copy[key] = {
                name: rewritten(sub, change, f"{where}.{name}" if where else name)
                for name, sub in held.items()
            }
        elif key in NAMED and isinstance(held, dict):
            copy[key] = {n: rewritten(sub, change, where) for n, sub in held.items()}
        elif key in _HOLDERS:
            inner = f"{where}[]" if key in ("items", "prefixItems") else where
            many = isinstance(held, list)
            copy[key] = (
                [rewritten(sub, change, inner) for sub in held]
                if many
                else rewritten(held, change, inner)
            )
        else:
            copy[key] = held
    return change(copy, where)


def target(root: Any, ref: Any) -> Any:
    """Return what the local reference *ref* points at, or None if nothing is there."""
    found = follow(root, ref)
    return None if found is MISSING else found


def types_of(node: Mapping[str, Any]) -> list[str]:
    """Return the types *node* names, in its order; none if it names none."""
    named = node.get("type")
    names = named if isinstance(named, list) else [named]
    return [name for name in names if isinstance(name, str)]


def together(one: Mapping[str, Any], other: Mapping[str, Any]) -> Json:
    """Return one schema that asks for both: properties and required names join."""
    both = {**one, **other}
    for key in ("properties", "$defs"):
        if isinstance(one.get(key), Mapping) and isinstance(other.get(key), Mapping):
            both[key] = {**one[key], **other[key]}
    if isinstance(one.get("required"), list) and isinstance(
        other.get("required"), list
    ):
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return both
