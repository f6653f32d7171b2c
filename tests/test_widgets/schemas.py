"""Schemas nobody wrote and values nobody expected, for property tests."""

from hypothesis import strategies as st

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "c d",
        "$ref",
        "x-y",
        "class",
        "value",
        "token",
        "content",
        "",
        "é\u202e",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "",
            " ",
            "line\nbreak",
            "\r\n",
            "\x00",
            "\u202e",
            "null",
            "1",
            '"',
            "<secret-hidden>",
            "\ud800",
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(min_value=2**53, max_value=2**80),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1, 1.0, 0, -0.0, 1e300, True]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES | TEXTS, inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES | TEXTS, VALUES, max_size=5)

_FORMATS = st.sampled_from(
    ["date", "date-time", "uuid", "password", "byte", "binary", "email", "nonsense"]
)
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])


def _keyword(inner):
    return st.one_of(
        st.fixed_dictionaries({"type": _TYPES}),
        st.fixed_dictionaries({"type": st.lists(_TYPES, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"const": VALUES}),
        st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=4)}),
        st.fixed_dictionaries({"type": st.just("string"), "format": _FORMATS}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {
                "type": st.just("array"),
                "prefixItems": st.lists(inner, min_size=1, max_size=3),
            }
        ),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(NAMES, inner, max_size=3),
            },
            optional={
                "required": st.lists(NAMES, max_size=2, unique=True),
                "additionalProperties": st.one_of(st.booleans(), inner),
            },
        ),
        st.fixed_dictionaries({"additionalProperties": inner}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "patternProperties": st.just({"^a": {}})}
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"$ref": st.sampled_from(["#", "#/properties/a", "#/no"])}),
    )


_NOTES = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXTS,
        "description": TEXTS,
        "default": VALUES,
        "examples": st.lists(VALUES, max_size=2),
        "nullable": st.booleans(),
        "minimum": st.integers(-3, 3),
        "minItems": st.integers(0, 2),
        "maxLength": st.integers(0, 300),
        "writeOnly": st.booleans(),
    },
)
SCHEMAS = st.recursive(
    st.one_of(st.booleans(), st.just({}), _NOTES, _keyword(st.just({}))),
    lambda inner: st.builds(lambda a, b: {**a, **b}, _NOTES, _keyword(inner)),
    max_leaves=8,
)
ROOTS = st.builds(
    lambda properties, rest: {"type": "object", "properties": properties, **rest},
    st.dictionaries(NAMES, SCHEMAS, max_size=4),
    st.fixed_dictionaries(
        {},
        optional={
            "required": st.lists(NAMES, max_size=3, unique=True),
            "additionalProperties": st.one_of(st.booleans(), SCHEMAS),
        },
    ),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "items",
                    "prefixItems",
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "enum",
                    "const",
                    "$ref",
                    "additionalProperties",
                    "patternProperties",
                    "propertyNames",
                    "format",
                    "title",
                    "description",
                    "default",
                    "toolbench",
                    "enumNames",
                    "minItems",
                    "examples",
                    "contentMediaType",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=15,
)
"""Things in the place of a schema that are none."""
