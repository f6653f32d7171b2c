"""What is said of a value that fits no branch of a union: the problems of the branch it was meant for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.jsonschema.validate import SchemaValidator

NULL = {"type": "null"}
DAY = {"type": "string", "format": "date"}
PERIOD = {
    "type": "object",
    "properties": {"start": DAY, "end": DAY},
    "required": ["start", "end"],
    "additionalProperties": False,
}


def animal(kind, **fields):
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, **fields},
        "required": ["kind", *fields],
    }


CAT = animal("cat", lives={"type": "integer"})
DOG = animal("dog", name={"type": "string"}, age={"type": "integer"})
WORDS = {"type": "array", "items": {"type": "string"}}

CASES = [
    ([PERIOD, NULL], {"start": "a"}, ["x.end: is required"]),
    ([NULL, PERIOD], 5, ["x: should be an object, not 5"]),
    (
        [PERIOD, {"enum": [None]}],
        {"start": "a", "end": "b", "ends": "c"},
        ["x.ends: is an unknown argument. Did you mean 'end'?"],
    ),
    (
        [{"anyOf": [PERIOD, NULL]}, {"const": None}],
        {"end": ""},
        ["x.start: is required"],
    ),
    (
        [{"anyOf": [PERIOD, WORDS]}, NULL],
        ["a", 1],
        ["x[1]: should be a string, not 1"],
    ),
    ([WORDS, PERIOD], 1.5, ["x: should be a list or an object, not 1.5"]),
    ([CAT, DOG], {"kind": "cat"}, ["x.lives: is required"]),
    (
        [CAT, DOG, NULL],
        {"kind": "dog", "lives": 1},
        ["x.age: is required", "x.name: is required"],
    ),
    (
        [CAT, DOG],
        {"kind": "cow", "lives": 1},
        ['x.kind: should be one of ["cat", "dog"], not "cow"'],
    ),
    ([CAT, DOG], {"lives": 9}, ["x.kind: is required"]),
    (
        [{"const": "on"}, {"const": "off"}],
        "Off",
        ['x: should be one of ["on", "off"], not "Off". Did you mean \'off\'?'],
    ),
    (
        [{"required": ["a"]}, {"required": ["b"]}],
        {},
        ["x: {} fits none of the 2 accepted forms"],
    ),
]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(("branches", "value", "expected"), CASES, ids=repr)
def test_the_nearest_branch_complains(keyword, branches, value, expected):
    """With paths as deep as the mistake."""
    schema = {"properties": {"x": {keyword: branches}}}
    problems = SchemaValidator(schema).problems({"x": value})
    assert sorted(map(str, problems)) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "cat"]),
    lambda items: (
        st.lists(items, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "lives", "start", "z"]), items)
    ),
    max_leaves=6,
)


@given(branch=st.sampled_from([PERIOD, CAT, DOG, WORDS, DAY]), value=VALUES)
def test_an_optional_value_is_told_what_the_same_required_value_is(branch, value):
    """`X | None` says of a value that is not null what X says of it."""
    alone = SchemaValidator(branch).problems(value)
    optional = SchemaValidator({"anyOf": [branch, NULL]}).problems(value)
    assert optional == ([] if value is None else alone)


@given(
    branches=st.lists(st.sampled_from([PERIOD, CAT, DOG, WORDS, DAY, NULL])),
    value=VALUES,
)
def test_there_is_a_problem_exactly_if_no_branch_fits(branches, value):
    """However the branches are compared, no misfit goes unsaid."""
    schema = {"anyOf": [*branches, {"type": "integer"}]}
    validator = SchemaValidator(schema)
    assert bool(validator.problems(value)) is not validator.is_valid(value)


def test_deep_values_are_told_too():
    """A mistake a hundred levels down ends no check with a RecursionError."""
    schema = {
        "anyOf": [{"$ref": "#/$defs/node"}, NULL],
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, NULL]}},
            }
        },
    }
    value = "wrong"
    for _ in range(150):
        value = {"next": value}
    [problem] = SchemaValidator(schema).problems(value)
    assert "fits none of the 2 accepted forms" in problem.message


def test_an_unknown_name_comes_with_the_known_ones():
    """Also where the name stands in a definition; no more names than a person reads."""
    schema = {
        "properties": {"x": {"$ref": "#/$defs/p"}},
        "$defs": {"p": PERIOD},
    }
    value = {"x": {"start": "", "end": "", "qqq": 1}}
    [problem] = SchemaValidator(schema).problems(value)
    assert str(problem) == "x.qqq: is an unknown argument; expected: start, end"
    many = {f"name{n}": {} for n in range(1000)}
    validator = SchemaValidator({"properties": many, "additionalProperties": False})
    [problem] = validator.problems({"qqq": 1})
    assert problem.message.endswith("name29, …")
