"""Fold `allOf`, `anyOf`, `oneOf`, lists of types and `nullable` into something one field can show."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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
TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_HINTS = (
    ("object", ("properties", "additionalProperties", "patternProperties", "required")),
    ("array", ("items", "prefixItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
)
_NESTING = 20

Resolve = Callable[[Any], Any]
Schema = dict[str, Any]


@dataclass(frozen=True)
class Folded:
    """What is left of a schema: itself, or the *only* real alternative it had."""

    schema: Schema
    nullable: bool
    only: Any = None


def guess_type(schema: Schema) -> tuple[Schema, Any]:
    """Return *schema* with a `type`, when it has or implies one, and the type nobody knows."""
    if isinstance(
        first := schema.get("items"), list
    ):  # a tuple, as drafts before 2020 say it
        schema = {**schema, "prefixItems": first, "items": True}
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return schema, None
    rest = {key: item for key, item in schema.items() if key != "type"}
    if not rest.keys() & {"enum", "const", "anyOf"}:
        for guess, keys in _HINTS:
            if any(key in rest for key in keys):
                return {"type": guess, **rest}, kind
    return rest, kind


def fold_all_of(schema: Schema, resolve: Resolve) -> Schema:
    """Merge the parts of `allOf` into one schema; what they disagree on is left to validation."""
    return _fold_all_of(schema, resolve, set(), _NESTING)


def _fold_all_of(schema: Schema, resolve: Resolve, seen: set[int], fuel: int) -> Schema:
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not fuel:
        return schema
    merged = {key: item for key, item in schema.items() if key != "allOf"}
    for part in parts:
        if id(part) not in seen:  # a hostile schema repeats itself without end
            seen.add(id(part))
            resolved = resolve(part)
            if isinstance(resolved, dict):
                inner = _fold_all_of(resolved, resolve, seen, fuel - 1)
                merged = _merge(merged, inner)
    return merged


def _merge(left: Schema, right: Schema) -> Schema:
    merged = {**right, **left}
    for key in ("properties", "patternProperties"):
        ours, theirs = left.get(key), right.get(key)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            merged[key] = {**ours, **theirs} | {
                name: {"allOf": [ours[name], theirs[name]]}
                for name in ours.keys() & theirs.keys()
            }
    if required := [*required_of(left), *required_of(right)]:
        merged["required"] = list(dict.fromkeys(required))
    if "integer" in (left.get("type"), right.get("type")):
        merged["type"] = "integer"  # beside "number", the narrower one
    return merged


def required_of(schema: Schema) -> list[str]:
    """Return the names *schema* requires."""
    names = schema.get("required")
    return [x for x in names if isinstance(x, str)] if isinstance(names, list) else []


def fold_alternatives(schema: Schema, resolve: Resolve) -> Folded:
    """Take `null` out of the alternatives of *schema*, and merge alternatives that look alike."""
    schema, nullable = _without_null_type(schema)
    key = next((k for k in ("anyOf", "oneOf") if isinstance(schema.get(k), list)), None)
    if key is None:
        return _without_null_choice(schema, nullable=nullable)
    base = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf")}
    branches = list(_alternatives(schema[key], resolve, set(), _NESTING))
    if isinstance(base.get("properties"), dict):
        return Folded(_spread(base, [found for _, found in branches]), nullable)
    real = [(part, found) for part, found in branches if not _is_null(found)]
    nullable = nullable or len(real) < len(branches)
    rules = {k: v for k, v in base.items() if k not in ANNOTATIONS}
    notes = {k: v for k, v in base.items() if k in ANNOTATIONS}
    if not real:
        only = {"type": "null"} if branches else {}  # none at all: it refers to itself
        return Folded({**notes, **only}, nullable=False)
    if len(real) == 1:
        part = real[0][0]
        return Folded(
            base,
            nullable,
            {**rules, **part, **notes} if isinstance(part, dict) else part,
        )
    choices = _one_choice([found for _, found in real])
    if choices:
        return _without_null_choice({**notes, **choices}, nullable=nullable)
    plain = _one_scalar([found for _, found in real], rules)
    if plain:
        return Folded({**plain, **base}, nullable)
    if base.get("writeOnly") is True:
        rules["writeOnly"] = True
    parts = [{**rules, **part} if isinstance(part, dict) else part for part, _ in real]
    return Folded({**notes, "anyOf": parts}, nullable)


def _alternatives(
    parts: list[Any], resolve: Resolve, seen: set[int], fuel: int
) -> Iterator[tuple[Any, Any]]:
    """Give the alternatives with what they refer to; those of an alternative count as well."""
    seen.add(id(parts))
    for part in parts:
        found = resolve(part)
        inner = _pure_alternatives(found) if fuel else None
        if inner is None:
            yield part, found
        elif id(inner) not in seen:
            yield from _alternatives(inner, resolve, seen, fuel - 1)


def _pure_alternatives(schema: Any) -> list[Any] | None:
    """Return the alternatives of a schema that says nothing else."""
    if not isinstance(schema, dict):
        return None
    rules = [key for key in schema if key not in ANNOTATIONS]
    only = rules[0] if len(rules) == 1 and rules[0] in ("anyOf", "oneOf") else ""
    inner = schema.get(only)
    return inner if isinstance(inner, list) else None


def _without_null_type(schema: Schema) -> tuple[Schema, bool]:
    """Take `null` out of `type`; several types left become alternatives."""
    kinds = schema.get("type")
    nullable = schema.get("nullable") is True
    if not isinstance(kinds, list):
        return schema, nullable
    rest = {key: item for key, item in schema.items() if key != "type"}
    real = [kind for kind in kinds if kind != "null"]
    nullable = nullable or len(real) < len(kinds)
    if len(real) == 1:
        return {**rest, "type": real[0]}, nullable
    if not real:
        return {**rest, "type": "null"}, False
    if rest.keys() & {"enum", "const", "anyOf", "oneOf"}:
        return rest, nullable
    notes = {k: v for k, v in rest.items() if k in ANNOTATIONS}
    rules = {k: v for k, v in rest.items() if k not in ANNOTATIONS}
    return {**notes, "anyOf": [{"type": k, **rules} for k in real]}, nullable


def _without_null_choice(schema: Schema, *, nullable: bool) -> Folded:
    values = schema.get("enum")
    if not isinstance(values, list) or None not in values or len(values) == 1:
        return Folded(schema, nullable)
    kept = [i for i, item in enumerate(values) if item is not None]
    slim = {**schema, "enum": [values[i] for i in kept]}
    names = schema.get("enumNames")
    if isinstance(names, list) and len(names) == len(values):
        slim["enumNames"] = [names[i] for i in kept]
    return Folded(slim, nullable=True)


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null"
        or schema.get("enum") == [None]
        or ("const" in schema and schema["const"] is None)
    )


def _one_choice(branches: list[Any]) -> Schema | None:
    """Return alternatives that are all constants as one list of values with names."""
    values: list[Any] = []
    names: list[Any] = []
    for branch in branches:
        if not isinstance(branch, dict):
            return None
        listed = [branch["const"]] if "const" in branch else branch.get("enum")
        if not isinstance(listed, list) or branch.keys() & {"anyOf", "oneOf", "allOf"}:
            return None
        values += listed
        names += [branch.get("title") if len(listed) == 1 else None] * len(listed)
    return {"enum": values, "enumNames": names}


def _one_scalar(branches: list[Any], rules: Schema) -> Schema | None:
    """Return alternatives that are all text, or all numbers, as one type."""
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


def _spread(base: Schema, branches: list[Any]) -> Schema:
    """Add the properties only some alternatives declare to those of *base*."""
    properties = dict(base["properties"])
    for branch in branches:
        declared = branch.get("properties") if isinstance(branch, dict) else None
        for name, sub in (declared if isinstance(declared, dict) else {}).items():
            properties.setdefault(name, sub)
    return {**base, "properties": properties}
