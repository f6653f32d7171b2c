"""Merge two schemas into one, for a value that has to fit both."""

from collections.abc import Mapping
from typing import Any

from toolbench.jsonschema.types import TYPES, Json, Schema, json_key, type_of

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
        names = {**_names(far), **_names(near)}
        if names:
            both["enumNames"] = [names.get(json_key(value)) for value in values]


def _names(schema: Schema) -> dict[Any, Any]:
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
