"""Make one schema of several: merge two, simplify alternatives, copy definitions into place."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.jsonschema.refs import MISSING, follow, unescaped
from toolbench.jsonschema.types import TYPES, Json, Schema, json_key, type_of, types_of_value
from toolbench.jsonschema.walk import (
    ALTERNATIVES,
    COMPOSITION,
    TOGETHER,
    every,
    rewritten,
    types_of,
)

# References to follow, one after another
_HOPS = 40
_JOINED = frozenset({"allOf", "patternProperties", "properties", "required"})
_AT_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
# keywords with schemas of the parts of a value: a part has to fit both
_OF_PARTS = ("items", "additionalProperties", "propertyNames")
# two of these cannot become one value
_BOTH = frozenset({"pattern", "multipleOf", "contains", "not", "prefixItems", "dependentRequired"})
_CONDITION = ("if", "then", "else")
_EXCLUSIVE = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_FLAGS = frozenset(exclusive for _, exclusive in _EXCLUSIVE)


def merged(near: Schema, far: Schema) -> Json:
    """Return one schema for a value that has to fit both *near* and *far*.

    The result has the stricter of two limits, and only the types and listed values that both
    schemas have. If one keyword cannot express both rules (properties of the same name, two
    patterns), `allOf` is used. If the schemas contradict each other in another way, the
    rule of *near* is used.
    """
    near, far = with_limits_as_numbers(near), with_limits_as_numbers(far)
    both = {**far, **near}
    shared = near.keys() & far.keys()
    _narrow(both, near, far)
    if not shared:
        return both
    for key in _JOINED & shared:
        one, other = near[key], far[key]
        if isinstance(one, list) and isinstance(other, list):
            known = {name for name in one if isinstance(name, str)}
            more = [p for p in other if not (isinstance(p, str) and p in known)]
            both[key] = [*one, *more]
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            both[key] = {**one, **other} | {
                name: {"allOf": [*_all_of(one[name]), other[name]]}
                for name in one.keys() & other.keys()
                if one[name] is not other[name]
            }
    rest = _unsaid(both, near, far)
    parts = both.get("allOf", [])
    if rest and isinstance(parts, list) and rest not in parts:
        both["allOf"] = [*parts, rest]
    return both


def together(one: Schema, other: Schema) -> Json:
    """Return one schema for a value of *one* and *other*, without a new `allOf`.

    The result has the properties and required names of both. It has the stricter of two limits, and
    only the types and listed values that both schemas have. If the schemas contradict each other in
    another way, the rule of *other* is used.
    """
    both = {**one, **other}
    _narrow(both, other, one)
    for key in ("properties", "$defs"):
        if isinstance(one.get(key), Mapping) and isinstance(other.get(key), Mapping):
            both[key] = {**one[key], **other[key]}
    names = one.get("required"), other.get("required")
    if isinstance(names[0], list) and isinstance(names[1], list):
        both["required"] = list(dict.fromkeys([*names[0], *names[1]]))
    return both


def with_limits_as_numbers(schema: Schema) -> Schema:
    """Return *schema*, in which `exclusiveMinimum: true`, as draft 4 writes it, becomes a number."""
    # The usual case, quickly checked
    if schema.keys().isdisjoint(_FLAGS):
        return schema
    for limit, exclusive in _EXCLUSIVE:
        value = schema.get(exclusive)
        if isinstance(value, bool):
            dropped = (exclusive, limit) if value and limit in schema else (exclusive,)
            rest = {key: schema[key] for key in schema if key not in dropped}
            schema = {**rest, exclusive: schema[limit]} if len(dropped) == 2 else rest
    return schema


def listed_values(schema: Schema) -> list[Any] | None:
    """Return the values that *schema* lists, by `const` or `enum`; None if it lists none."""
    values = schema.get("enum")
    if "const" not in schema:
        return values if isinstance(values, list) else None
    constant = [schema["const"]]
    return _common(constant, values) if isinstance(values, list) else constant


def _narrow(both: Json, near: Schema, far: Schema) -> None:
    """Give *both* the stricter limits of *near* and *far*, and only the types and values of both."""
    if shared := near.keys() & far.keys():
        both |= _tighter(near, far)
        if "type" in shared and (types := _common_types(near, far)):
            both["type"] = types if len(types) > 1 else types[0]
    one = listed_values(near)
    other = None if one is None else listed_values(far)
    if one is None or other is None:
        return
    values = _common(one, other)
    constant = [schema["const"] for schema in (near, far) if "const" in schema]
    for key in ("const", "enum", "enumNames"):
        both.pop(key, None)
    if constant and values:
        both["const"] = values[0]
    else:
        both["enum"] = values
        names = {**_value_names(far), **_value_names(near)}
        if names:
            both["enumNames"] = [names.get(json_key(value)) for value in values]


def _value_names(schema: Schema) -> dict[Any, Any]:
    """Return the `enumNames` of *schema* as a dict: from the `json_key` of a value to its name."""
    values, names = schema.get("enum"), schema.get("enumNames")
    if not isinstance(values, list) or not isinstance(names, list):
        return {}
    return {json_key(v): name for v, name in zip(values, names, strict=False)}


def _common(one: list[Any], other: list[Any]) -> list[Any]:
    """Return the values of *one* that are also in *other*: 1.0 equals 1, but true does not."""
    known = {json_key(value) for value in other}
    return [value for value in one if json_key(value) in known]


def _common_types(near: Schema, far: Schema) -> list[str]:
    """Return the types that both schemas name; an integer is also a number."""
    one, other = _types(near), _types(far)
    types = [kind for kind in one if kind in other or (kind == "integer" and "number" in other)]
    if "number" in one and "integer" in other and not {"number", "integer"} & {*types}:
        types.append("integer")
    return types


def _types(schema: Schema) -> list[str]:
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return [kind for kind in kinds if isinstance(kind, str) and kind in TYPES]


def _all_of(schema: Any) -> list[Any]:
    """Return the schemas in `allOf` of *schema*, if it has nothing else, or *schema* itself."""
    parts = schema.get("allOf") if isinstance(schema, Mapping) and len(schema) == 1 else None
    return parts if isinstance(parts, list) else [schema]


def _unsaid(both: Json, near: Schema, far: Schema) -> Json:
    """Merge schemas of parts into *both*; return the rules of *far* that one keyword cannot express."""
    shared = near.keys() & far.keys()
    rest = {key: far[key] for key in _BOTH & shared if near[key] != far[key]}
    for key in _OF_PARTS:
        if key in shared and near[key] is not far[key]:
            if isinstance(near[key], list) or isinstance(far[key], list):
                # A tuple, as drafts before 2020 write it
                rest[key] = far[key]
            else:
                both[key] = _of_part(near[key], far[key])
    if "type" in shared and not _common_types(near, far):
        rest["type"] = far["type"]
    if "if" in shared:
        rest |= _second_condition(both, near, far)
    return rest


def _of_part(near: Any, far: Any) -> Any:
    """Return one schema for a part that has to fit both; `true` allows any part, `false` allows none."""
    if near is False or far is False:
        return False
    schemas = [each for each in (near, far) if isinstance(each, Mapping) and each]
    return {"allOf": schemas} if len(schemas) > 1 else (schemas or [near])[0]


def _second_condition(both: Json, near: Schema, far: Schema) -> Json:
    """Return the condition (`if`, `then`, `else`) of *far*; `{}` if it equals the condition of *near*.

    Remove from *both* the keywords of the condition that only *far* has.
    """
    first, second = ({k: s[k] for k in _CONDITION if k in s} for s in (near, far))
    for key in second.keys() - first.keys():
        del both[key]
    return {} if first == second else second


def _tighter(one: Schema, other: Schema) -> Json:
    """Return the limits that both schemas set, each with the stricter of the two values."""
    shared = one.keys() & other.keys()
    return {
        key: (max if key in _AT_LEAST else min)(one[key], other[key])
        for key in shared & (_AT_LEAST | _AT_MOST)
        if all(type_of(s[key]) in ("integer", "number") for s in (one, other))
    }


def resolve(root: Any, schema: Any) -> tuple[Any, str]:
    """Follow the reference of *schema*, a part of *root*, and further references, to the end.

    Keywords beside a reference are added to its target. If they contradict the target, these
    keywords count.

    Returns:
        The schema without a reference, and a problem such as "refers to itself". The problem is
        empty if there is none.
    """
    for _ in range(_HOPS):
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            return schema, ""
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target = follow(root, schema["$ref"])
        if target is MISSING:
            return beside, f"refers to {schema['$ref']!r}, which is not there"
        schema = merged(beside, target) if isinstance(target, Mapping) else target
    return {}, "refers to itself"


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


# --- alternatives, so that one form field suffices -----------------------------------

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


# --- shorter schemas for callers -----------------------------------------------------

_DEFS = "#/$defs/"
# Nodes; for more, shared definitions are better
_INLINE_LIMIT = 20_000


def without_unset_nulls(schema: Json) -> Json:
    """Return *schema*, in which an optional property `X | null` with the default null becomes X."""
    copy: Json = rewritten(schema, _without_unset_nulls)
    return copy


def _without_unset_nulls(node: Json, _: str) -> Json:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return node
    required = node.get("required", ())
    fields = {
        name: field if name in required else _without_null(field)
        for name, field in properties.items()
    }
    return {**node, "properties": fields}


def _without_null(field: Any) -> Any:
    if not isinstance(field, dict) or field.get("default", ...) is not None:
        return field
    if None in (choices := field.get("enum", ())) and len(choices) > 1:
        rest = [choice for choice in choices if choice is not None]
        return {**{k: v for k, v in field.items() if k != "default"}, "enum": rest}
    branches = field.get("anyOf")
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return field
    rest = [b for b in branches if b != {"type": "null"}]
    outer = {k: v for k, v in field.items() if k not in ("anyOf", "default")}
    if len(rest) == 1 and not (outer.keys() & rest[0].keys() - ANNOTATIONS):
        return {**rest[0], **outer, **_both_descriptions(outer, rest[0])}
    return {"anyOf": rest, **outer}


def inline_defs(schema: Json) -> Json:
    """Return *schema* with its `$defs` copied to where they are used, except recursive definitions.

    If the result would be too large, return *schema* unchanged.
    """
    defs = schema.get("$defs")
    if not isinstance(defs, dict):
        return schema
    recursive = _recursive(defs)
    inliner = _Inliner(defs, recursive)
    body = {k: v for k, v in schema.items() if k != "$defs"}
    try:
        flat: Json = inliner.put_in_place(body)
        used = {name: inliner.put_in_place(defs[name]) for name in sorted(recursive)}
    except OverflowError:
        return schema
    used = {name: used[name] for name in _reachable(flat, used)}
    return {**flat, "$defs": used} if used else flat


class _Inliner:
    def __init__(self, defs: Json, recursive: set[str]) -> None:
        self._defs, self._recursive_names, self._nodes = defs, recursive, 0

    def put_in_place(self, node: Any) -> Any:
        return rewritten(node, self._resolve)

    def _resolve(self, node: Json, _: str) -> Json:
        self._nodes += 1
        if self._nodes > _INLINE_LIMIT:
            raise OverflowError
        if isinstance(mapping := node.get("discriminator"), dict):
            # OpenAPI's mapping points into $defs, which will be removed
            node = {**node, "discriminator": {"propertyName": mapping["propertyName"]}}
        name = _target(node)
        if name is None or name in self._recursive_names or name not in self._defs:
            return node
        target = self.put_in_place(self._defs[name])
        beside = {k: v for k, v in node.items() if k != "$ref"}
        if not beside.keys() <= ANNOTATIONS:
            return {"allOf": [target], **beside}
        return {**target, **beside, **_both_descriptions(beside, target)}


def _both_descriptions(*nodes: Json) -> dict[str, str]:
    """Return one description for *nodes*, mostly a field and its type: all their descriptions."""
    texts = dict.fromkeys(text for n in nodes if (text := n.get("description")))
    return {"description": "\n".join(texts)} if texts else {}


def _target(schema: Json) -> str | None:
    """Return the name of the definition to which *schema* refers; None if there is none."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFS):
        return None
    return unescaped(reference.removeprefix(_DEFS))


def _names(schema: Any) -> set[str]:
    """Return the names of the definitions that *schema* and its parts refer to."""
    names = (_target(part) for _, part in every(schema))
    return {name for name in names if name is not None}


def _recursive(defs: Json) -> set[str]:
    """Return the names of the definitions in *defs* that refer to themselves, perhaps through others."""
    direct = {name: _names(sub) & defs.keys() for name, sub in defs.items()}
    return {name for name in defs if name in _closure(direct[name], direct)}


def _reachable(schema: Any, defs: Json) -> list[str]:
    direct = {name: _names(sub) & defs.keys() for name, sub in defs.items()}
    names = _closure(_names(schema) & defs.keys(), direct)
    return [name for name in defs if name in names]


def _closure(start: set[str], direct: dict[str, set[str]]) -> set[str]:
    visited: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        if name not in visited:
            visited.add(name)
            todo |= direct[name]
    return visited
