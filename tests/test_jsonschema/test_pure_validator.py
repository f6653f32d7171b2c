"""The validator of Pyodide, in Python alone, has the verdicts of jsonschema-rs, at the same places."""

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


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_same_verdicts_at_the_same_places(schema, value):
    """A form marks the same fields; missing and unknown arguments are at their names."""
    rust, pure = both(schema)
    expected = rust.problems(value)
    if expected and "cannot be sent as JSON" in expected[0].message:
        with pytest.raises((ValueError, TypeError)):
            pure.problems(value)
        return
    assert pure.is_valid(value) is rust.is_valid(value)
    problems = pure.problems(value)
    if schema is False or "unevaluatedProperties" not in schema:
        assert {problem.path for problem in problems} == {problem.path for problem in expected}
    assert all(problem.message for problem in problems)


def test_messages_are_plain():
    """A missing or unknown name and a pattern are said as elsewhere, the rest as the library says it."""
    _, pure = both(OBJECT)
    [problem] = pure.problems({"n": 3, "word": "b"})
    assert problem.message == "should match the pattern ^a\\d$"
    found = {p.where: p.message for p in pure.problems({"n": "x" * 1_000, "other": 1})}
    assert found["word"] == "is required"
    assert found["other"] == "is an unknown argument; expected: n, word"
    assert found["n"].startswith("'xxx")
    assert len(found["n"]) < 250


def test_a_mistake_in_an_optional_object_is_at_its_place():
    """Of a union, the deepest error is named."""
    optional = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
    _, pure = both({"$defs": TREE["$defs"], "properties": {"a": optional}})
    [problem] = pure.problems({"a": {"next": {"n": "one"}}})
    assert problem.path == ("a", "next", "n")


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
