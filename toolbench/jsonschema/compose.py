"""Make one schema from several: merge two, simplify alternatives, copy definitions into place."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.jsonschema.types import TYPES, Json, Schema, json_key, type_of, types_of_value
from toolbench.jsonschema.walk import (
    ALTERNATIVES,
    COMPOSITION,
    MISSING,
    TOGETHER,
    every,
    follow,
    mapping,
    rewritten,
    sequence,
    types_of,
    unescaped,
    without,
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

# References to follow, one after another
_HOPS = 40
# Schemas in `allOf` or `anyOf` inside of each other
_NESTING = 20

# --- two schemas --------------------------------------------------------------------

_AT_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_JOINED = frozenset({"allOf", "patternProperties", "properties", "required"})
# Keywords with schemas of the parts of a value: a part has to fit both
_OF_PARTS = ("items", "additionalProperties", "propertyNames")
# Two of these cannot become one value
_BOTH = frozenset({"pattern", "multipleOf", "contains", "not", "prefixItems", "dependentRequired"})
_CONDITION = ("if", "then", "else")
_EXCLUSIVE = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_FLAGS = frozenset(exclusive for _, exclusive in _EXCLUSIVE)


def resolve(root: Any, schema: Any) -> tuple[Any, str]:
    """Follow the `$ref` of *schema* in *root*, until a schema without a `$ref` is reached.

    Keywords next to a `$ref` are merged into the schema to which it refers. If both have a keyword
    that cannot be merged, the keyword next to the `$ref` is used.

    Returns:
        The schema without a `$ref`, and the problem with the `$ref`, such as "refers to itself".
        The problem is empty if there is none.
    """
    for _ in range(_HOPS):
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            return schema, ""
        beside = dict(without(schema, "$ref"))
        target = follow(root, schema["$ref"])
        if target is MISSING:
            return beside, f"refers to {schema['$ref']!r}, which is not there"
        schema = target
        if isinstance(target, Mapping):
            schema = merged(beside, target)
    return {}, "refers to itself"


def merged(near: Schema, far: Schema) -> Json:
    """Return one schema for a value that has to fit both *near* and *far*.

    Keywords that are in both schemas are combined as follows:

    - The stricter limit is used.
    - Types and listed values must be in both schemas.
    - Two rules that one keyword cannot express, such as two patterns, are put into `allOf`.
    - For all other keywords, the value in *near* is used.
    """
    near, far = with_limits_as_numbers(near), with_limits_as_numbers(far)
    both = {**far, **near}
    _narrow(both, near, far)
    # The rules of *far* that one keyword cannot express
    rest: Json = {}
    for key, other in far.items():
        if key not in near:
            continue
        one = near[key]
        if key in _JOINED:
            both[key] = _joined(one, other)
        elif key in _BOTH and one != other:
            rest[key] = other
        elif key in _OF_PARTS and one is not other:
            # A tuple, as drafts before 2020 write it
            if isinstance(one, list) or isinstance(other, list):
                rest[key] = other
            else:
                both[key] = _of_part(one, other)
        elif key == "type" and not _common_types(near, far):
            rest["type"] = other
        elif key == "if":
            rest |= _second_condition(both, near, far)
    parts = both.get("allOf", [])
    if rest and isinstance(parts, list) and rest not in parts:
        both["allOf"] = [*parts, rest]
    return both


def together(one: Schema, other: Schema) -> Json:
    """Return one schema for a value that has to fit *one* and *other*, without using `allOf`.

    Keywords that are in both schemas are combined as follows:

    - Properties and required names of both schemas are used.
    - The stricter limit is used.
    - Types and listed values must be in both schemas.
    - For all other keywords, the value in *other* is used.
    """
    both = {**one, **other}
    _narrow(both, other, one)
    for key in ("properties", "$defs"):
        if isinstance(one.get(key), Mapping) and isinstance(other.get(key), Mapping):
            both[key] = {**one[key], **other[key]}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return both


def with_limits_as_numbers(schema: Schema) -> Schema:
    """Return *schema* with `exclusiveMinimum` and `exclusiveMaximum` as numbers.

    In draft 4 of JSON Schema, these keywords are booleans next to `minimum` and `maximum`.
    """
    # The usual case, quickly checked
    if schema.keys().isdisjoint(_FLAGS):
        return schema
    for limit, exclusive in _EXCLUSIVE:
        flag = schema.get(exclusive)
        if flag is True and limit in schema:
            schema = {**without(schema, limit, exclusive), exclusive: schema[limit]}
        elif isinstance(flag, bool):
            schema = without(schema, exclusive)
    return schema


def _narrow(both: Json, near: Schema, far: Schema) -> None:
    """Change *both* to the stricter limits of *near* and *far*, and to their common values."""
    for key in near.keys() & far.keys():
        if key == "type":
            types = _common_types(near, far)
            if types:
                both["type"] = types
            if len(types) == 1:
                both["type"] = types[0]
        elif _is_number(near[key]) and _is_number(far[key]):
            if key in _AT_LEAST:
                both[key] = max(near[key], far[key])
            elif key in _AT_MOST:
                both[key] = min(near[key], far[key])
    one, other = listed_values(near), listed_values(far)
    if one is not None and other is not None:
        names = {**_value_names(far), **_value_names(near)}
        is_constant = "const" in near or "const" in far
        for key in ("const", "enum", "enumNames"):
            both.pop(key, None)
        both |= _choice(_common(one, other), names, is_constant=is_constant)


def _choice(values: list[Any], names: Mapping[Any, Any], *, is_constant: bool) -> Json:
    """Return the schema of a value that is one of *values*.

    *names* has the names of values for users, by the `json_key` of the value.
    """
    if values and is_constant:
        return {"const": values[0]}
    if not names:
        return {"enum": values}
    return {"enum": values, "enumNames": [names.get(json_key(value)) for value in values]}


def _is_number(value: Any) -> bool:
    return type_of(value) in ("integer", "number")


def _joined(one: Any, other: Any) -> Any:
    """Join the values of one keyword: two lists, or two objects with schemas.

    If both objects have a schema under the same name, the value has to fit both.
    """
    if isinstance(one, list) and isinstance(other, list):
        known = {name for name in one if isinstance(name, str)}
        return one + [item for item in other if not (isinstance(item, str) and item in known)]
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one
    joined = {**one, **other}
    for name in one.keys() & other.keys():
        if one[name] is not other[name]:
            parts = [one[name]]
            if isinstance(one[name], Mapping) and one[name].keys() == {"allOf"}:
                parts = sequence(one[name], "allOf") or parts
            joined[name] = {"allOf": [*parts, other[name]]}
    return joined


def _of_part(near: Any, far: Any) -> Any:
    """Return a schema for a part of a value that must fit both *near* and *far*."""
    if near is False or far is False:
        return False
    if not isinstance(far, Mapping) or not far:
        return near
    if not isinstance(near, Mapping) or not near:
        return far
    return {"allOf": [near, far]}


def _second_condition(both: Json, near: Schema, far: Schema) -> Json:
    """Return the condition (`if`, `then`, `else`) of *far*; empty if it is the same as in *near*.

    A keyword such as `else` that only *far* has is removed from *both*, because it would belong to
    the `if` of *near* there.
    """
    second = {}
    is_same = True
    for key in _CONDITION:
        if key in far:
            second[key] = far[key]
            if key not in near:
                del both[key]
        is_same = is_same and near.get(key, MISSING) == far.get(key, MISSING)
    if is_same:
        return {}
    return second


def _common_types(near: Schema, far: Schema) -> list[str]:
    """Return the types that both schemas name; an integer is also a number."""
    one, other = types_of(near), types_of(far)
    types = []
    for kind in one:
        is_common = kind in other or (kind == "integer" and "number" in other)
        if is_common and kind in TYPES:
            types.append(kind)
    if "number" in one and "integer" in other and not {"number", "integer"} & {*types}:
        types.append("integer")
    return types


# --- listed values ------------------------------------------------------------------


def listed_values(schema: Schema) -> list[Any] | None:
    """Return the values that *schema* lists, by `const` or `enum`; None if it lists none."""
    values = schema.get("enum")
    if not isinstance(values, list):
        values = None
    if "const" not in schema:
        return values
    if values is None:
        return [schema["const"]]
    return _common([schema["const"]], values)


def _common(one: list[Any], other: list[Any]) -> list[Any]:
    """Return the values of *one* that are also in *other*. 1 equals 1.0, but not `true`."""
    known = set(map(json_key, other))
    return [value for value in one if json_key(value) in known]


def _value_names(schema: Schema) -> dict[Any, Any]:
    """Return the `enumNames` of *schema* as a dict: from the `json_key` of a value to its name."""
    keys = map(json_key, sequence(schema, "enum"))
    return dict(zip(keys, sequence(schema, "enumNames"), strict=False))


def has_type(value: Any, types: Iterable[str]) -> bool:
    """Tell whether *value* has one of *types*; also True if all *types* are unknown."""
    known = TYPES & {*types}
    return not known or not known.isdisjoint(types_of_value(value))


def with_values_of_its_types(schema: Json) -> Json:
    """Return *schema* without the values in `enum` that have none of the types of *schema*."""
    if "enum" not in schema:
        return schema
    types = types_of(schema)
    # As OpenAPI writes it
    if schema.get("nullable") is True and types:
        types = [*types, "null"]
    return _with_some_values(schema, lambda value: has_type(value, types))


def _with_some_values(schema: Json, is_kept: Callable[[Any], bool]) -> Json:
    """Return *schema* with only those values in `enum` (and names) for which *is_kept* is true."""
    values, names = sequence(schema, "enum"), sequence(schema, "enumNames")
    some_values, some_names = [], []
    for n, value in enumerate(values):
        if is_kept(value):
            some_values.append(value)
            some_names += names[n : n + 1]
    if len(some_values) == len(values):
        return schema
    some = {**schema, "enum": some_values}
    if len(names) == len(values):
        some["enumNames"] = some_names
    return some


# --- the schema of one form field: its type, and `allOf` ----------------------------

_IMPLIED = (
    ("object", ("properties", "additionalProperties", "patternProperties", "required")),
    ("array", ("items", "prefixItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
)
_TYPING = frozenset({"type", "enum", "const", "$dynamicRef", *COMPOSITION, "not", "if"})

Resolve = Callable[[Any], Any]


def guess_type(schema: Json) -> tuple[Json, Any]:
    """Return *schema* with a `type`, which is guessed from its other keywords if necessary.

    If `items` is a list of schemas, it becomes `prefixItems`.

    Returns:
        The schema, and the invalid `type` that was removed from it. The schema has no `type` if
        none can be guessed. The removed type is None if there was none.
    """
    first = schema.get("items")
    # A tuple, as drafts before 2020 write it
    if isinstance(first, list):
        schema = {**schema, "prefixItems": first, "items": True}
    kind = schema.get("type")
    if isinstance(kind, str) and kind in TYPES:
        return schema, None
    rest = dict(without(schema, "type"))
    if rest.keys().isdisjoint(("enum", "const", "anyOf")):
        for guess, keys in _IMPLIED:
            if not rest.keys().isdisjoint(keys):
                return {"type": guess, **rest}, kind
    return rest, kind


def states_type(schema: Any) -> bool:
    """Tell whether *schema* has the keyword `type`."""
    return isinstance(schema, dict) and "type" in schema


def leaves_type_open(schema: Any) -> bool:
    """Tell whether *schema* has no keyword that could exclude a type, such as `type` or `enum`.

    A keyword such as `maxLength` cannot exclude a type, because it applies only to strings.
    """
    return isinstance(schema, dict) and _TYPING.isdisjoint(schema)


def fold_all_of(schema: Json, resolve: Resolve) -> Json:
    """Merge the schemas in `allOf` into *schema*. A rule that cannot be merged stays in `allOf`.

    *resolve* is a function that follows the references of a schema. If schemas contradict each
    other, no error is raised, because the validation of a value reports such problems.
    """
    return _fold_all_of(schema, resolve, set(), _NESTING)


def _fold_all_of(schema: Json, resolve: Resolve, visited: set[int], fuel: int) -> Json:
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not fuel:
        return schema
    result = dict(without(schema, "allOf"))
    for part in parts:
        # A hostile schema repeats itself for ever
        if id(part) in visited:
            continue
        visited.add(id(part))
        resolved = resolve(part)
        if isinstance(resolved, dict):
            result = merged(result, _fold_all_of(resolved, resolve, visited, fuel - 1))
    return result


# --- alternatives: anyOf, oneOf and lists of types ----------------------------------


@dataclass(frozen=True)
class Folded:
    """The result of `fold_alternatives`: a schema with simplified alternatives.

    Attributes:
        schema: The simplified schema. If it has an `anyOf`, the `anyOf` has at least two
            alternatives.
        nullable: Whether the alternative `null` was removed.
        only: The only alternative, if exactly one was left. It is not yet simplified itself.
        merged: The alternatives that were merged into `schema`.
    """

    schema: Json
    nullable: bool
    only: Any = None
    merged: tuple[Any, ...] = ()


_Branches = list[tuple[Any, Any]]
"""Alternatives as they were written, each with the schema to which its reference leads."""


def fold_alternatives(schema: Json, resolve: Resolve) -> Folded:
    """Remove `null` from the alternatives of *schema*, and merge similar alternatives.

    Alternatives are merged if all are constants, all are strings, or all are numbers. If *schema*
    has `properties`, the properties of the alternatives are added to `properties`. *resolve* is a
    function that follows the references of a schema.
    """
    schema, nullable = _without_null_type(with_values_of_its_types(schema))
    for key in ALTERNATIVES:
        if isinstance(schema.get(key), list):
            break
    else:
        return _without_null_choice(schema, nullable=nullable)
    base = dict(without(schema, *ALTERNATIVES))
    branches = list(_alternatives(schema[key], resolve, set(), _NESTING))
    if isinstance(base.get("properties"), dict):
        targets = tuple(target for _, target in branches)
        return Folded(_spread(base, targets), nullable, merged=targets)
    real = [(part, target) for part, target in branches if not _is_null(target)]
    if real:
        nullable = nullable or len(real) < len(branches)
        return _fold_real(base, real, nullable=nullable)
    only, _ = _split(base)
    if branches:
        only["type"] = "null"
    # Without any, the schema refers to itself
    return Folded(only, nullable=False)


def _split(schema: Json) -> tuple[Json, Json]:
    """Return the keywords of *schema* that only describe a value, and those that restrict it."""
    notes, rules = {}, {}
    for key, value in schema.items():
        if key in ANNOTATIONS:
            notes[key] = value
        else:
            rules[key] = value
    return notes, rules


def _fold_real(base: Json, branches: _Branches, *, nullable: bool) -> Folded:
    """Simplify a schema with the alternatives *branches*, none of which is null.

    *base* has the other keywords of the schema.
    """
    notes, rules = _split(base)
    if len(branches) == 1:
        part = branches[0][0]
        if isinstance(part, dict):
            part = {**merged(part, rules), **notes}
        return Folded(base, nullable, part)
    targets = tuple(target for _, target in branches)
    if choices := _one_choice(targets):
        choice = with_values_of_its_types({**merged(choices, rules), **notes})
        slim = _without_null_choice(choice, nullable=nullable)
        return Folded(slim.schema, slim.nullable, merged=targets)
    if scalar := _one_scalar(targets, rules):
        return Folded({**scalar, **base}, nullable, merged=targets)
    if base.get("writeOnly") is True:
        rules["writeOnly"] = True
    parts = [merged(part, rules) if isinstance(part, dict) else part for part, _ in branches]
    return Folded({**notes, "anyOf": parts}, nullable)


def _alternatives(
    parts: list[Any], resolve: Resolve, visited: set[int], fuel: int
) -> Iterator[tuple[Any, Any]]:
    """Yield each alternative in *parts*, and the schema to which its reference leads.

    If an alternative consists only of alternatives, yield these instead.
    """
    visited.add(id(parts))
    for part in parts:
        target = resolve(part)
        inner = _pure_alternatives(target)
        if inner is None or not fuel:
            yield part, target
        elif id(inner) not in visited:
            yield from _alternatives(inner, resolve, visited, fuel - 1)


def _pure_alternatives(schema: Any) -> list[Any] | None:
    """Return the alternatives of a schema that has no other rules; None for any other schema."""
    if not isinstance(schema, dict):
        return None
    for key in ALTERNATIVES:
        if schema.keys() - ANNOTATIONS == {key} and isinstance(schema[key], list):
            return sequence(schema, key)
    return None


def _without_null_type(schema: Json) -> tuple[Json, bool]:
    """Return *schema* without `null` in its list of types, and whether *schema* accepts `null`.

    If several types are left, they become alternatives. But if *schema* already has alternatives or
    listed values, the types are removed.
    """
    kinds = schema.get("type")
    nullable = schema.get("nullable") is True
    if not isinstance(kinds, list):
        return schema, nullable
    rest = dict(without(schema, "type"))
    real = [kind for kind in kinds if kind != "null"]
    if len(real) < len(kinds):
        values = listed_values(schema)
        nullable = nullable or values is None or None in values
    if not real:
        return {**rest, "type": "null"}, False
    if len(real) == 1:
        return {**rest, "type": real[0]}, nullable
    if not rest.keys().isdisjoint(("enum", "const", *ALTERNATIVES)):
        return rest, nullable
    notes, rules = _split(rest)
    return {**notes, "anyOf": [{"type": kind, **rules} for kind in real]}, nullable


def _without_null_choice(schema: Json, *, nullable: bool) -> Folded:
    values = sequence(schema, "enum")
    if None not in values or len(values) == 1:
        return Folded(schema, nullable)
    return Folded(_with_some_values(schema, lambda value: value is not None), nullable=True)


def _is_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return (
        schema.get("type") == "null"
        or schema.get("enum") == [None]
        or schema.get("const", MISSING) is None
    )


def _one_choice(branches: tuple[Any, ...]) -> Json | None:
    """Return one `enum` with all values that the alternatives *branches* list, and their titles.

    Return None if an alternative lists no values. The `enum` may have values that other rules of
    the schema refuse; `Node.values` leaves these out.
    """
    values: dict[Any, Any] = {}
    names: dict[Any, Any] = {}
    for branch in branches:
        if not isinstance(branch, dict) or not branch.keys().isdisjoint(TOGETHER):
            return None
        constants = listed_values(branch)
        if constants is None:
            return None
        for value in constants:
            if has_type(value, types_of(branch)):
                key = json_key(value)
                values.setdefault(key, value)
                names.setdefault(key, branch.get("title") if len(constants) == 1 else None)
    return {"enum": list(values.values()), "enumNames": list(names.values())}


def _one_scalar(branches: tuple[Any, ...], rules: Json) -> Json | None:
    """Return a schema with one type for all *branches*, if all are strings or all numbers."""
    kinds, formats = [], []
    for branch in branches:
        if not isinstance(branch, dict) or not branch.keys().isdisjoint(("enum", "const", "$ref")):
            return None
        kinds.append(branch.get("type", rules.get("type")))
        formats.append(branch.get("format"))
    if kinds.count("string") == len(kinds):
        if formats[0] and formats.count(formats[0]) == len(formats):
            return {"type": "string", "format": formats[0]}
        return {"type": "string"}
    if kinds.count("integer") == len(kinds):
        return {"type": "integer"}
    if kinds.count("integer") + kinds.count("number") == len(kinds):
        return {"type": "number"}
    return None


def _spread(base: Json, branches: tuple[Any, ...]) -> Json:
    """Return a copy of *base* with more properties: those that only *branches* declare."""
    properties = dict(base["properties"])
    for branch in branches:
        if isinstance(branch, dict):
            for name, sub in mapping(branch, "properties").items():
                properties.setdefault(name, sub)
    return {**base, "properties": properties}


# --- shorter schemas for callers ----------------------------------------------------

_DEFS = "#/$defs/"
# Nodes; for more, shared definitions are better
_INLINE_LIMIT = 20_000


def without_unset_nulls(schema: Json) -> Json:
    """Return *schema* with each optional `X | null` whose default is null replaced by X."""
    copy: Json = rewritten(schema, _without_unset_nulls)
    return copy


def _without_unset_nulls(node: Json, _: str) -> Json:
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, field in properties.items():
            if name not in node.get("required", ()):
                properties[name] = _without_null(field)
    return node


def _without_null(field: Any) -> Any:
    if not isinstance(field, dict) or field.get("default", ...) is not None:
        return field
    outer = dict(without(field, "default"))
    choices = field.get("enum", ())
    if None in choices and len(choices) > 1:
        return _with_some_values(outer, lambda choice: choice is not None)
    branches = outer.pop("anyOf", None)
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return field
    rest = [branch for branch in branches if branch != {"type": "null"}]
    if len(rest) == 1 and not (outer.keys() & rest[0].keys() - ANNOTATIONS):
        return _with_descriptions({**rest[0], **outer}, outer, rest[0])
    return {"anyOf": rest, **outer}


def _with_descriptions(schema: Json, *parts: Json) -> Json:
    """Add the descriptions of *parts*, such as those of a field and of its type, to *schema*."""
    texts = dict.fromkeys(part["description"] for part in parts if part.get("description"))
    if texts:
        schema["description"] = "\n".join(texts)
    return schema


def inline_defs(schema: Json) -> Json:
    """Return *schema* with each reference replaced by a copy of its definition.

    Recursive definitions stay in `$defs`. If the result would be too large, return *schema*
    unchanged.
    """
    defs = schema.get("$defs")
    if not isinstance(defs, dict):
        return schema
    body = dict(without(schema, "$defs"))
    uses = {name: _names(part) & defs.keys() for name, part in defs.items()}
    recursive = {name for name in defs if name in _closure(uses[name], uses)}
    inliner = _Inliner(without(defs, *recursive))
    try:
        flat: Json = inliner.put_in_place(body)
        used = {}
        for name in sorted(recursive & _closure(_names(body) & defs.keys(), uses)):
            used[name] = inliner.put_in_place(defs[name])
    except OverflowError:
        return schema
    if used:
        flat["$defs"] = used
    return flat


class _Inliner:
    """Replaces references with copies of their definitions. No definition may be recursive."""

    def __init__(self, defs: Schema) -> None:
        self._defs, self._nodes = defs, 0

    def put_in_place(self, node: Any) -> Any:
        return rewritten(node, self._resolve)

    def _resolve(self, node: Json, _: str) -> Json:
        self._nodes += 1
        if self._nodes > _INLINE_LIMIT:
            raise OverflowError
        discriminator = node.get("discriminator")
        if isinstance(discriminator, dict):
            # OpenAPI's mapping points into $defs, which will be removed
            node = {**node, "discriminator": {"propertyName": discriminator["propertyName"]}}
        name = _target(node)
        if name not in self._defs:
            return node
        target = self.put_in_place(self._defs[name])
        beside = dict(without(node, "$ref"))
        if not beside.keys() <= ANNOTATIONS:
            return {"allOf": [target], **beside}
        return _with_descriptions({**target, **beside}, beside, target)


def _target(schema: Json) -> str:
    """Return the name of the definition to which *schema* refers; empty if there is none."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFS):
        return ""
    return unescaped(reference.removeprefix(_DEFS))


def _names(schema: Any) -> set[str]:
    """Return the names of the definitions that *schema* and its parts refer to."""
    return {_target(part) for _, part in every(schema)}


def _closure(start: set[str], uses: Mapping[str, set[str]]) -> set[str]:
    """Return the names in *start*, and all names that their definitions use, at any distance."""
    visited: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        visited.add(name)
        todo |= uses[name] - visited
    return visited
