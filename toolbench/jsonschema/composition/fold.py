"""Simplify `allOf`, `anyOf`, `oneOf`, lists of types and `nullable`, so that one form field suffices."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolbench.jsonschema.composition.merge import listed_values, merged
from toolbench.jsonschema.enumeration import has_type, with_values_of_its_types
from toolbench.jsonschema.types import TYPES, Json, json_key
from toolbench.jsonschema.walk import (
    ALTERNATIVES,
    COMPOSITION,
    TOGETHER,
    types_of,
)

ANNOTATIONS = frozenset(
    {
        "$comment",
        "$defs",
        "$id",
        "$schema",
        "default",
        "definitions",
        "deprecated",
        "description",
        "discriminator",
        "examples",
        "readOnly",
        "title",
        "toolbench",
        "writeOnly",
    }
)
"""The keywords that describe a value, but do not restrict it."""
_IMPLIED = (
    ("object", ("properties", "additionalProperties", "patternProperties", "required")),
    ("array", ("items", "prefixItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
)
_TYPING = frozenset({"type", "enum", "const", "$dynamicRef", *COMPOSITION, "not", "if"})
_NESTING = 20

Resolve = Callable[[Any], Any]
_Branches = list[tuple[Any, Any]]
"""Alternatives as they were written, each with the schema to which its reference leads."""


@dataclass(frozen=True)
class Folded:
    """The result of `fold_alternatives`: a schema with simplified alternatives.

    Attributes:
        schema: The simplified schema; its `anyOf`, if any, has at least two alternatives.
        nullable: Whether `null` was among the alternatives.
        only: The alternative that is left, if there is only one; it is not simplified yet.
        merged: The alternatives that were merged into *schema*.
    """

    schema: Json
    nullable: bool
    only: Any = None
    merged: tuple[Any, ...] = ()


def guess_type(schema: Json) -> tuple[Json, Any]:
    """Return *schema* with a known `type`: its own, or the type that its other keywords imply.

    If the own `type` of *schema* is unknown, it is replaced or left out, and the second value is
    this unknown `type`; else the second value is None. A list in `items` becomes `prefixItems`.
    """
    first = schema.get("items")
    # A tuple, as drafts before 2020 write it
    if isinstance(first, list):
        schema = {**schema, "prefixItems": first, "items": True}
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return schema, None
    rest = {key: item for key, item in schema.items() if key != "type"}
    if not rest.keys() & {"enum", "const", "anyOf"}:
        for guess, keys in _IMPLIED:
            if any(key in rest for key in keys):
                return {"type": guess, **rest}, kind
    return rest, kind


def states_type(schema: Any) -> bool:
    """Tell whether *schema* has the keyword `type`."""
    return isinstance(schema, dict) and "type" in schema


def leaves_type_open(schema: Any) -> bool:
    """Tell whether *schema* has no keyword that excludes types, such as `type` or `enum`.

    A keyword such as `maxLength` excludes no type: values of other types than text always fit it.
    """
    return isinstance(schema, dict) and _TYPING.isdisjoint(schema)


# --- allOf --------------------------------------------------------------------------


def fold_all_of(schema: Json, resolve: Resolve) -> Json:
    """Merge the schemas in `allOf` into *schema*; a schema that cannot be merged stays in `allOf`.

    *resolve* follows references. Schemas that contradict each other are no error here: validation
    reports them.
    """
    return _fold_all_of(schema, resolve, set(), _NESTING)


def _fold_all_of(schema: Json, resolve: Resolve, visited: set[int], fuel: int) -> Json:
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not fuel:
        return schema
    result = {key: item for key, item in schema.items() if key != "allOf"}
    for part in parts:
        # A hostile schema repeats itself for ever
        if id(part) not in visited:
            visited.add(id(part))
            resolved = resolve(part)
            if isinstance(resolved, dict):
                inner = _fold_all_of(resolved, resolve, visited, fuel - 1)
                result = merged(result, inner)
    return result


# --- anyOf, oneOf and lists of types ------------------------------------------------


def fold_alternatives(schema: Json, resolve: Resolve) -> Folded:
    """Remove `null` from the alternatives of *schema*, and merge similar alternatives.

    Alternatives are merged if all are constants, all are texts, or all are numbers. If *schema* has
    `properties`, the properties of all alternatives are added to them. *resolve* follows
    references.
    """
    schema, nullable = _without_null_type(with_values_of_its_types(schema))
    key = next((k for k in ALTERNATIVES if isinstance(schema.get(k), list)), None)
    if key is None:
        return _without_null_choice(schema, nullable=nullable)
    base = {k: v for k, v in schema.items() if k not in ALTERNATIVES}
    branches = list(_alternatives(schema[key], resolve, set(), _NESTING))
    if isinstance(base.get("properties"), dict):
        targets = tuple(target for _, target in branches)
        return Folded(_spread(base, targets), nullable, merged=targets)
    real = [(part, target) for part, target in branches if not _is_null(target)]
    if not real:
        # None at all: the schema refers to itself
        only = {"type": "null"} if branches else {}
        notes = {k: v for k, v in base.items() if k in ANNOTATIONS}
        return Folded({**notes, **only}, nullable=False)
    nullable = nullable or len(real) < len(branches)
    return _fold_real(base, real, nullable=nullable)


def _fold_real(base: Json, branches: _Branches, *, nullable: bool) -> Folded:
    """Simplify *branches*, alternatives that are not null; *base* has the keywords beside them."""
    rules = {k: v for k, v in base.items() if k not in ANNOTATIONS}
    notes = {k: v for k, v in base.items() if k in ANNOTATIONS}
    if len(branches) == 1:
        part = branches[0][0]
        both = {**merged(part, rules), **notes} if isinstance(part, dict) else part
        return Folded(base, nullable, both)
    targets = tuple(target for _, target in branches)
    if choices := _one_choice(targets):
        choice = with_values_of_its_types({**merged(choices, rules), **notes})
        slim = _without_null_choice(choice, nullable=nullable)
        return Folded(slim.schema, slim.nullable, merged=targets)
    if plain := _one_scalar(targets, rules):
        return Folded({**plain, **base}, nullable, merged=targets)
    if base.get("writeOnly") is True:
        rules["writeOnly"] = True
    parts = [merged(part, rules) if isinstance(part, dict) else part for part, _ in branches]
    return Folded({**notes, "anyOf": parts}, nullable)


def _alternatives(
    parts: list[Any], resolve: Resolve, visited: set[int], fuel: int
) -> Iterator[tuple[Any, Any]]:
    """Yield each alternative in *parts*, and the schema to which its reference leads.

    An alternative that is itself only a list of alternatives is replaced by these.
    """
    visited.add(id(parts))
    for part in parts:
        target = resolve(part)
        inner = _pure_alternatives(target) if fuel else None
        if inner is None:
            yield part, target
        elif id(inner) not in visited:
            yield from _alternatives(inner, resolve, visited, fuel - 1)


def _pure_alternatives(schema: Any) -> list[Any] | None:
    """Return the alternatives of *schema*; None if *schema* has none, or has other rules too."""
    if not isinstance(schema, dict):
        return None
    rules = [key for key in schema if key not in ANNOTATIONS]
    only = rules[0] if len(rules) == 1 and rules[0] in ALTERNATIVES else ""
    inner = schema.get(only)
    return inner if isinstance(inner, list) else None


def _without_null_type(schema: Json) -> tuple[Json, bool]:
    """Remove `null` from the list of types in *schema*, and tell whether *schema* accepts `null`.

    If several types are left, they become alternatives. They are left out if *schema* has
    alternatives or listed values already.
    """
    kinds = schema.get("type")
    nullable = schema.get("nullable") is True
    if not isinstance(kinds, list):
        return schema, nullable
    rest = {key: item for key, item in schema.items() if key != "type"}
    real = [kind for kind in kinds if kind != "null"]
    values = listed_values(schema)
    takes_null = values is None or None in values
    nullable = nullable or (len(real) < len(kinds) and takes_null)
    if len(real) == 1:
        return {**rest, "type": real[0]}, nullable
    if not real:
        return {**rest, "type": "null"}, False
    if rest.keys() & {"enum", "const", "anyOf", "oneOf"}:
        return rest, nullable
    notes = {k: v for k, v in rest.items() if k in ANNOTATIONS}
    rules = {k: v for k, v in rest.items() if k not in ANNOTATIONS}
    return {**notes, "anyOf": [{"type": k, **rules} for k in real]}, nullable


def _without_null_choice(schema: Json, *, nullable: bool) -> Folded:
    values = schema.get("enum")
    if not isinstance(values, list) or None not in values or len(values) == 1:
        return Folded(schema, nullable)
    indexes = [i for i, item in enumerate(values) if item is not None]
    slim = {**schema, "enum": [values[i] for i in indexes]}
    names = schema.get("enumNames")
    if isinstance(names, list) and len(names) == len(values):
        slim["enumNames"] = [names[i] for i in indexes]
    return Folded(slim, nullable=True)


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null"
        or schema.get("enum") == [None]
        or ("const" in schema and schema["const"] is None)
    )


def _one_choice(branches: tuple[Any, ...]) -> Json | None:
    """Return one `enum` of all values in the lists of *branches*, with their titles.

    Return None if a branch lists no values. The `enum` can have values that the whole schema
    refuses. Nodes, which are built later, do not have these values.
    """
    values: dict[Any, tuple[Any, Any]] = {}
    for branch in branches:
        constants = listed_values(branch) if isinstance(branch, dict) else None
        if constants is None or not branch.keys().isdisjoint(TOGETHER):
            return None
        name = branch.get("title") if len(constants) == 1 else None
        for value in constants:
            if has_type(value, types_of(branch)):
                values.setdefault(json_key(value), (value, name))
    pairs = values.values()
    return {"enum": [v for v, _ in pairs], "enumNames": [name for _, name in pairs]}


def _one_scalar(branches: tuple[Any, ...], rules: Json) -> Json | None:
    """Return a schema with one type for all *branches*; None unless all are text or all are numbers."""
    kinds: list[Any] = []
    for branch in branches:
        if not isinstance(branch, dict) or branch.keys() & {"enum", "const", "$ref"}:
            return None
        kinds.append(branch.get("type", rules.get("type")))
    if all(kind == "string" for kind in kinds):
        first = branches[0].get("format")
        alike = all(branch.get("format") == first for branch in branches)
        return {"type": "string", **({"format": first} if first and alike else {})}
    if all(kind in ("integer", "number") for kind in kinds):
        return {"type": "number" if "number" in kinds else "integer"}
    return None


def _spread(base: Json, branches: tuple[Any, ...]) -> Json:
    """Return a copy of *base* with more properties: those that only *branches* declare."""
    properties = dict(base["properties"])
    for branch in branches:
        declared = branch.get("properties") if isinstance(branch, dict) else None
        for name, sub in (declared if isinstance(declared, dict) else {}).items():
            properties.setdefault(name, sub)
    return {**base, "properties": properties}
