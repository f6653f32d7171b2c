"""The validator of Pyodide, in Python alone, says of each value what jsonschema-rs says."""

import json

import pytest

from toolbench.errors import SchemaError
from toolbench.jsonschema.validate import PureValidator, SchemaValidator

# newer versions, as CPython has them here, want another way to refuse documents
pytestmark = pytest.mark.filterwarnings("ignore:jsonschema.RefResolver")

JUNK = ("text", 1, 1.5, True, None, [], {}, ["a"], {"a": 1}, -1, 10**9)
TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}},
        }
    },
    "$ref": "#/$defs/node",
}
OBJECT = {
    "type": "object",
    "properties": {
        "n": {"type": ["integer", "null"], "minimum": 3},
        "word": {"pattern": "^a\\d$"},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "required": ["n", "word"],
    "additionalProperties": False,
}
CASES = [
    (TREE, {"next": {"next": {"n": "one"}}}),
    (TREE, {"next": {"n": 1}}),
    (OBJECT, {}),
    (OBJECT, {"n": 1, "word": "a1\n", "other": 1, "x-a": 2}),
    (OBJECT, {"n": "1", "word": "a\u0661"}),
    (OBJECT, {"n": None, "word": "a1", "x-a": "fits"}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1),
    ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, 1),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1),
    ({"enum": ["a", 1]}, True),
    ({"const": {"a": 1.0}}, {"a": 1}),
    (False, 1),
    ({"uniqueItems": True, "maxItems": 1}, [1, 1.0]),
    (
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"a": 1, "b": 2},
    ),
    ({"multipleOf": 5, "exclusiveMaximum": 10}, 12),
    ({"format": "email"}, "nobody"),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{"type": "string"}],
        },
        [1],
    ),
    ({}, "\ud800"),
    ({}, {1, 2}),
]


def both(schema):
    return SchemaValidator(schema), PureValidator(schema, "", "")


def problems(validator, value):
    try:
        return sorted(map(str, validator.problems(value)))
    except (ValueError, TypeError):
        return ["not JSON"]


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_same_problems(schema, value):
    """Each problem has the same place and the same words."""
    rust, pure = both(schema)
    expected = problems(rust, value)
    if expected and "cannot be sent as JSON" in expected[0]:
        expected = ["not JSON"]
    assert problems(pure, value) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "http://localhost:1/other.json"},
        {"properties": {"a": {"$ref": "#/$defs/missing"}}},
    ],
)
def test_same_schemas_are_refused(schema):
    """No reference leads out, also if no value comes to it."""
    for make in (SchemaValidator, lambda s: PureValidator(s, "", "")):
        with pytest.raises(SchemaError):
            make(schema)


def test_part_of_a_schema():
    """A part may refer to the whole."""
    whole = {"$defs": {"n": {"type": "integer"}}, "part": {"$ref": "#/$defs/n"}}
    validator = PureValidator(whole, "", "part")
    assert validator.is_valid(1)
    assert not validator.is_valid("1")


@pytest.mark.slow
def test_corpus_is_judged_alike(published):
    """No value of real tools gets another verdict."""
    different = []
    for tool in published:
        schema = tool["inputSchema"]
        rust, pure = both(schema)
        names = list(schema.get("properties", {}))
        values = [dict.fromkeys(names, junk) for junk in JUNK]
        values += [{}, *({name: junk} for name in names[:2] for junk in JUNK[:3])]
        different += [
            (tool["name"], json.dumps(value)[:200])
            for value in values
            if rust.is_valid(value) != pure.is_valid(value)
        ]
    assert different == []
