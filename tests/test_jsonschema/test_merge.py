"""Two schemas of one value: what both say is said by one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_core.schemas import NUMBERS, SCALARS, TEXTS

from toolbench.display.objects import tool_text
from toolbench.jsonschema.compose import merged, together
from toolbench.jsonschema.describe import about, facts
from toolbench.jsonschema.node import SchemaView, read
from toolbench.jsonschema.types import json_key
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.words import words
from toolbench.mcp.tool import MCPToolDefinition

_SIZES = st.integers(0, 3)
_TEXT = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("string"),
        "minLength": _SIZES,
        "maxLength": _SIZES,
        "pattern": st.sampled_from(["^a", "b$", "^[a-c]+$", "1"]),
    },
)
_NUMBER = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "number"]),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "exclusiveMinimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
    },
)
_LIST = st.fixed_dictionaries(
    {}, optional={"type": st.just("array"), "minItems": _SIZES, "maxItems": _SIZES}
)
_LISTS = st.lists(st.integers(0, 1), max_size=4)
_PARTS_AND_VALUE = st.one_of(
    st.tuples(st.lists(_TEXT, min_size=2, max_size=3), TEXTS),
    st.tuples(st.lists(_NUMBER, min_size=2, max_size=3), NUMBERS),
    st.tuples(st.lists(_LIST, min_size=2, max_size=3), _LISTS),
)


def takes(schema, value):
    """Whether *value* fits, as the specification says."""
    return validator_of(schema).is_valid(value)


WAYS = {
    "allOf": lambda one, *rest: {"allOf": [one, *rest]},
    "beside": lambda one, *rest: {**one, "allOf": [*rest]},
    "nested": lambda one, *rest: {"allOf": [one, {"allOf": [*rest]}]},
    "reference": lambda one, *rest: {
        **one,
        "$ref": "#/$defs/a",
        "$defs": {"a": {"allOf": [*rest]}},
    },
    "null": lambda one, *rest: {**one, "anyOf": [{"allOf": [*rest]}, {"const": None}]},
}


@pytest.mark.parametrize("way", WAYS)
@given(example=_PARTS_AND_VALUE)
def test_limits_of_several_schemas_all_hold(way, example):
    """However they are put together, the normal form takes what all of them take."""
    parts, value = example
    schema = WAYS[way](*parts)
    assert takes(read(schema).schema, value) == takes(schema, value)


@given(example=_PARTS_AND_VALUE)
def test_what_a_provider_is_sent_takes_no_more_numbers(example):
    """A schema without `allOf` has the tighter limits too; of two patterns it has one."""
    (one, *others), value = example
    whole = one
    for other in others:
        whole = together(whole, other)
    assert "allOf" not in whole
    if not {"pattern", "multipleOf"} & {k for part in (one, *others) for k in part}:
        types = {part["type"] for part in (one, *others) if "type" in part}
        if len(types) < 2:
            assert takes(whole, value) == all(takes(p, value) for p in (one, *others))


def test_the_tighter_limit_and_both_patterns_are_shown():
    """In words, each once."""
    parts = [
        {"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^a"},
        {"minLength": 4, "maxLength": 7, "pattern": "z$"},
        {"maxLength": 8, "pattern": "^a"},
    ]
    sentences = [
        "at least 4 characters",
        "at most 7 characters",
        "matches ^a",
        "matches z$",
    ]
    assert facts(read({"allOf": parts})) == sentences
    schema = {"type": "object", "properties": {"code": {"allOf": parts}}}
    tool = MCPToolDefinition(name="t", remote_name="t", description="T.", server="s", schema=schema)
    assert "; ".join(sentences) in " ".join(tool_text(tool).split())


_WITH_VALUES = st.one_of(
    st.fixed_dictionaries(
        {"enum": st.lists(SCALARS, min_size=1, max_size=4)},
        optional={
            "type": st.sampled_from(["string", "integer", ["number", "null"]]),
            "minLength": _SIZES,
            "minimum": NUMBERS,
            "enumNames": st.just(["One", "Two", "Three"]),
        },
    ),
    st.fixed_dictionaries({"const": SCALARS}),
    st.fixed_dictionaries({"type": st.sampled_from(["boolean", "string", "number"])}),
)
_TOGETHER = {
    **WAYS,
    "anyOf": lambda one, *rest: {**one, "anyOf": [*rest]},
    "oneOf": lambda one, *rest: {"oneOf": [one, *rest]},
}


@pytest.mark.parametrize("way", _TOGETHER)
@given(parts=st.lists(_WITH_VALUES, min_size=2, max_size=3))
@example(parts=[{"enum": [1, "x"]}, {"enum": [1.0, True, "y"]}])
@example(parts=[{"type": "string", "enum": ["aa", 5, None]}, {"const": "aa"}])
@example(parts=[{"type": "integer", "minimum": 1, "enum": [0]}, {"const": 0}])
def test_every_choice_that_is_offered_fits(way, parts):
    """And what fits of the listed values is offered, or null; names stay with their values."""
    schema = _TOGETHER[way](*parts)
    node = read(schema)
    assert all(takes(schema, choice) for choice in node.choices)
    assert len(node.value_names) == len(node.values)
    values = [v for p in parts for v in (*p.get("enum", ()), p.get("const"))]
    keys = {json_key(choice) for choice in node.choices}
    if all({"enum", "const"} & part.keys() for part in parts):
        for value in values:
            offered = json_key(value) in keys or (value is None and node.takes_null)
            assert offered or not takes(schema, value)


@pytest.mark.parametrize("way", _TOGETHER)
@given(parts=st.lists(_NUMBER | _LIST | _TEXT, min_size=2, max_size=3))
def test_what_is_called_a_limit_is_one(way, parts):
    """A value just past it is refused, if it was not before."""
    schema = _TOGETHER[way](*parts)
    for node in read(schema).alternatives:
        texts = facts(node)
        for keyword, past in _PAST.items():
            limit = node.limit(keyword)
            if limit is None or words(keyword, limit) not in texts:
                continue
            # 0 rules nothing out
            if limit or keyword not in ("minLength", "minItems"):
                assert not node.fits(past(limit))


_PAST = {
    "minimum": lambda n: n - 1,
    "exclusiveMinimum": lambda n: n,
    "maximum": lambda n: n + 1,
    "exclusiveMaximum": lambda n: n,
    "minLength": lambda n: "a" * (n - 1),
    "maxLength": lambda n: "a" * (n + 1),
    "minItems": lambda n: [1] * (n - 1),
    "maxItems": lambda n: [1] * (n + 1),
}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, "number (more than 3)"),
        ({"maximum": 3, "exclusiveMaximum": False}, "number (at most 3)"),
        (
            {"allOf": [{"minimum": 3, "exclusiveMinimum": True}, {"minimum": 2}]},
            "number (at least 2; more than 3)",
        ),
        ({"type": "string", "minimum": 3}, "string"),
        ({"allOf": [{"enum": ["x", "y"]}, {"enum": ["y", "z"]}]}, "only y"),
        ({"allOf": [{"const": 1}, {"enum": [True, 2]}]}, "no value"),
        (False, "no value"),
        (
            {"allOf": [{"items": {"type": "integer"}}, {"items": {"enum": [1, "x"]}}]},
            "array of only 1",
        ),
    ],
)
def test_words_are_of_what_is_taken(schema, text):
    """In draft 4, with two limits, with values of another type."""
    assert about(read(schema)) == text


def test_the_items_of_two_lists_fit_both():
    """The limits of each are kept."""
    parts = [{"items": {"type": "integer", "minimum": 1}}, {"items": {"minimum": 3}}]
    assert facts(read({"allOf": parts}).items) == ["at least 3"]


def test_two_conditions_are_kept():
    """The second one is not mixed with the first."""
    first = {"if": {"const": 1}, "then": {"minimum": 1}}
    second = {"if": {"const": 2}, "else": {"maximum": 5}}
    assert merged(first, second) == {**first, "allOf": [second]}


def test_every_choice_of_the_published_tools_fits(published):
    """Wherever in their schemas it is offered."""
    for tool in published:
        view = SchemaView(tool["inputSchema"])
        for _, node in () if view.broken else view.every():
            assert all(node.fits(choice) for choice in node.choices)


def test_a_limit_that_is_no_number_does_no_harm():
    """Near wins, as for all that two schemas disagree on."""
    assert merged({"minimum": "x"}, {"minimum": 3}) == {"minimum": "x"}
    assert merged({"allOf": 3, "pattern": "a"}, {"pattern": "b"})["pattern"] == "a"
