"""JSON Schemas of every kind with values near them, and the judge of both."""

import re

import jsonschema
from hypothesis import strategies as st

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "kind",
        "schema",
        "copy",
        "json",
        "model_config",
        "class",
        "_x",
        "$r",
        "",
    ]
)
TEXTS = st.sampled_from(["", "a", "ab", "abc", "1", "é☃", "a\nb", "kind"])
NUMBERS = st.sampled_from([0, 1, -1, 2, 3, 7, 0.5, 1.0, -2.5, 10**20])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)

_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
_SIZES = st.integers(0, 3)
_PATTERNS = st.sampled_from(["^a", "b$", "^[a-c]+$", "^.$", "\\d"])
_STRINGS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": _SIZES,
        "maxLength": _SIZES,
        "pattern": _PATTERNS,
        "format": st.sampled_from(["date-time", "email", "uri", "made-up"]),
    },
)
_LIMITED = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number", ["integer", "null"]])},
    optional={
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
    },
)
_PLAIN = st.one_of(
    st.booleans(),
    st.just({}),
    st.fixed_dictionaries({"type": _TYPES | st.lists(_TYPES, min_size=1, unique=True)}),
    st.fixed_dictionaries({"const": VALUES}),
    st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=4)}),
    _STRINGS,
    _LIMITED,
    st.just({"$ref": "#/$defs/tree"}),
    st.just({"$ref": "#/$defs/leaf", "description": "A leaf."}),
    st.just({"$ref": "#/$defs/leaf", "maximum": 2}),
)


def _wider(inner):
    some = st.lists(inner, min_size=1, max_size=3)
    arrays = st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner,
            "prefixItems": some,
            "contains": inner,
            "minItems": _SIZES,
            "maxItems": _SIZES,
            "uniqueItems": st.booleans(),
        },
    )
    conditions = st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner})
    described = st.fixed_dictionaries(
        {"anyOf": some, "description": st.just("Either."), "default": st.none()}
    )
    return st.one_of(
        arrays,
        conditions,
        described,
        objects(inner),
        st.fixed_dictionaries({"oneOf": some}),
        st.fixed_dictionaries({"allOf": some}),
        st.fixed_dictionaries({"not": inner}),
    )


def objects(inner):
    """Schemas of objects whose properties have schemas of *inner*."""
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=4),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(_PATTERNS, inner, max_size=1),
            "propertyNames": _STRINGS,
            "minProperties": _SIZES,
            "maxProperties": _SIZES,
            "dependentRequired": st.dictionaries(
                NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1
            ),
        },
    )


_DEFS = {
    "leaf": {"type": "integer", "minimum": 0, "description": "A number."},
    "tree": {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/leaf"},
            "b": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "additionalProperties": False,
    },
}
SCHEMAS = objects(st.recursive(_PLAIN, _wider, max_leaves=5)).map(
    lambda schema: {**schema, "$defs": _DEFS}
)


def _fitting(schema):
    """Values that may well fit *schema*: half right is near enough for both sides of a law."""
    if not isinstance(schema, dict):
        return VALUES
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return st.one_of([_fitting(branch) for branch in schema[keyword]])
    if "$ref" in schema:
        return _TREES if schema["$ref"].endswith("tree") else NUMBERS
    kinds = schema.get("type", [])
    strategies = [_OF_TYPE[kind](schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return st.one_of(strategies) if strategies else VALUES


_TREES = st.recursive(
    st.fixed_dictionaries({}, optional={"a": NUMBERS}),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"a": NUMBERS, "b": st.lists(inner, max_size=2)}
    ),
    max_leaves=4,
)
_OF_TYPE = {
    "string": lambda schema: TEXTS,
    "integer": lambda schema: NUMBERS,
    "number": lambda schema: NUMBERS,
    "boolean": lambda schema: st.booleans(),
    "null": lambda schema: st.none(),
    "array": lambda schema: st.lists(_fitting(schema.get("items", True)), max_size=3),
    "object": lambda schema: fitting(schema),
}


def fitting(schema):
    """Objects that may well fit *schema*."""
    properties = schema.get("properties", {})
    required = set(schema.get("required", ())) | set(list(properties)[:1])
    known = {name: _fitting(sub) for name, sub in properties.items()}
    return st.builds(
        lambda own, more: {**more, **own},
        st.fixed_dictionaries(
            {name: known.get(name, VALUES) for name in required},
            optional={name: known[name] for name in known.keys() - required},
        ),
        st.just({}) | st.dictionaries(NAMES, VALUES, max_size=1),
    )


# --- the judge ------------------------------------------------------------------------


def _pattern(validator, pattern, instance, schema):
    """JSON Schema's patterns are ECMA's: ASCII digits, and `$` is the end, not before it."""
    ecma = re.sub(r"(?<!\\)\$(?=$|\||\))", r"\\Z", pattern)
    if isinstance(instance, str) and not re.search(ecma, instance, re.ASCII):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def judge(schema):
    """The reference implementation's validator of *schema*."""
    dialect = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return jsonschema.validators.extend(dialect, {"pattern": _pattern})(schema)
