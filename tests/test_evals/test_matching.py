"""How a value that was sent is compared with the one that a case expects."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbench.evals.case import Case
from toolbench.evals.match import (
    EQUAL,
    RULES,
    ExpectedCall,
    FieldRule,
    SentCall,
    equal_json,
    misfits,
    paired,
)

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
COMPARING = [kind for kind in RULES if kind not in ("any", "regex")]


def fits(rule, expected, actual):
    return FieldRule.of(rule).matches(expected, actual)


@given(JSON)
def test_a_value_is_itself_by_every_rule_that_compares(value):
    """No rule refuses the expected value itself, read from JSON once more."""
    again = json.loads(json.dumps(value))
    for kind in COMPARING:
        if kind == "contains" and not isinstance(value, str | list):
            # Only a text and a list hold anything
            continue
        assert fits(kind, value, again), kind


@given(JSON, JSON)
def test_equality_is_the_same_both_ways_and_what_json_schema_says(one, other):
    """The judge is a validator of JSON Schema, by its keyword `const`."""
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    assert equal_json(one, other) == equal_json(other, one)
    assert equal_json(one, other) == jsonschema_rs.is_valid({"const": one}, other)


@given(JSON, JSON)
def test_equal_values_match_by_every_looser_rule(one, other):
    """What is equal is also approximately equal, a subset, and the same in any order."""
    if equal_json(one, other):
        assert all(fits(kind, one, other) for kind in ("approx", "subset", "unordered", "any"))


@settings(max_examples=50)
@given(st.lists(JSON, max_size=6), st.randoms(use_true_random=False))
def test_unordered_takes_every_order_and_no_other_list(items, random):
    """A shuffled list matches; one with an item more or less does not."""
    shuffled = random.sample(items, len(items))
    assert fits("unordered", items, shuffled)
    assert not fits("unordered", items, [*shuffled, "one more"])
    assert not fits("unordered", [*items, "one more"], shuffled)


@settings(max_examples=50)
@given(
    st.dictionaries(st.text(max_size=4), JSON, max_size=5),
    st.dictionaries(st.text(max_size=4), JSON, max_size=5),
)
def test_subset_takes_more_keys_and_never_fewer(expected, more):
    """More keys are allowed, a missing one is not."""
    assert fits("subset", expected, {**more, **expected})
    for key in expected:
        fewer = {k: v for k, v in expected.items() if k != key}
        assert not fits("subset", expected, fewer)


@pytest.mark.parametrize(
    ("rule", "expected", "actual", "matches"),
    [
        ("equal", 1, 1.0, True),
        ("equal", 1, True, False),
        ("equal", "1", 1, False),
        ("equal", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ("equal", [1, 2], [2, 1], False),
        ("approx", 33.33, 33.3333333, True),
        ("approx", 33.33, 34, False),
        ({"approx": 0.1}, 100, 109, True),
        ({"approx": {"abs": 2}}, 100, 102, True),
        ("approx", [1.0, {"a": 2}], [1.00001, {"a": 2.00001}], True),
        ("approx", 1, True, False),
        ("approx", float("inf"), 1e308, False),
        ("approx", "a", "a", True),
        ("regex", "^Par", "Paris", True),
        ({"regex": "(?i)paris|lutetia"}, None, "LUTETIA", True),
        ({"regex": r"^\d+$"}, None, 42, True),
        ({"regex": "a"}, None, ["a"], False),
        # Ends, in a second
        ({"regex": "(a+)+$"}, None, "a" * 60 + "b", False),
        ("any", 1, "x", True),
        ("contains", "aris", "Paris", True),
        ("contains", ["a"], ["b", "a"], True),
        ("contains", ["a", "a"], ["a"], False),
        ("contains", "a", 3, False),
        ("subset", {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}, True),
        ("subset", [{"a": 1}, {"a": 1}], [{"a": 1, "b": 2}, {"a": 1}], True),
        ("subset", [1, 1], [1], False),
        # a greedy choice would give {"a": 1} the item that only {} could spare
        ("subset", [{}, {"a": 1}], [{"a": 1}, {"b": 1}], True),
        ("unordered", [1, 2, 2], [2, 1, 2], True),
        ("unordered", [1, 2, 2], [2, 1, 1], False),
    ],
)
def test_rules(rule, expected, actual, matches):
    """Each rule takes what it says and no more."""
    assert fits(rule, expected, actual) is matches


@given(st.sampled_from(["equal", "approx", "any", {"approx": 0.5}, {"regex": "a"}]))
def test_a_rule_is_read_as_it_is_written(rule):
    """What a file says of a rule is the rule."""
    assert FieldRule.of(FieldRule.of(rule).written) == FieldRule.of(rule)


def compare(expected, actual, *, match=None, defaults=None):
    case = Case("x", {"name": "f", "arguments": expected}, match=match or {})
    sent = SentCall("f", actual, defaults or {})
    return [str(problem) for problem in misfits(case.calls[0], sent, case.rules)]


class TestFields:
    """A call is compared field by field."""

    def test_each_field_that_differs_is_named(self):
        """What is wrong, missing or too much has a sentence of its own."""
        assert compare({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == [
            "b: 2 was expected, and 3 was sent",
            "c: nothing was expected, and 4 was sent",
        ]
        assert compare({"a": 1}, {}) == ["a: 1 was expected, and was not sent"]

    def test_a_default_may_be_sent_or_left_out(self):
        """The tool gets the same either way."""
        defaults = {"tip": 0}
        assert not compare({"a": 1}, {"a": 1, "tip": 0.0}, defaults=defaults)
        assert not compare({"a": 1, "tip": 0}, {"a": 1}, defaults=defaults)
        assert compare({"a": 1}, {"a": 1, "tip": 5}, defaults=defaults)

    def test_rules_reach_inside(self):
        """A path names a field of an object, an item, or every item of a list."""
        expected = {"items": [{"n": 1.0, "s": "a"}, {"n": 2.0, "s": "b"}]}
        actual = {"items": [{"n": 1.0001, "s": "a"}, {"n": 2.0001, "s": "c"}]}
        match = {"items[].n": "approx"}
        assert compare(expected, actual, match=match) == [
            'items[1].s: "b" was expected, and "c" was sent'
        ]
        assert not compare(expected, actual, match={**match, "items[1].s": {"regex": "[a-z]"}})
        assert not compare({"g": {"a": 1}}, {"g": {"a": 2}}, match={"g.a": "any"})

    def test_a_field_that_may_be_anything_may_be_missing(self):
        """`any` is for a field that was sent or not."""
        assert not compare({"a": 1}, {}, match={"a": "any"})
        assert not compare({}, {"a": 1}, match={"a": "any"})
        assert not compare({}, {"a": 1, "b": 2}, match={"*": "any"})
        assert compare({"a": 1}, {"b": 2}, match={"*": "any"})

    def test_a_pattern_needs_no_expected_value_but_a_sent_one(self):
        """A pattern stands for itself; what was not sent does not match it."""
        match = {"city": {"regex": "^P"}}
        assert not compare({}, {"city": "Paris"}, match=match)
        assert compare({}, {"city": "Rome"}, match=match)
        assert compare({}, {}, match=match)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3),
        max_size=4,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_calls_does_not_matter(all_arguments, random):
    """Each expected call finds its own, in whatever order they were sent."""
    expected = [ExpectedCall("f", arguments) for arguments in all_arguments]
    sent = [SentCall("f", a, {}) for a in random.sample(all_arguments, len(expected))]
    pairs = paired(expected, sent, {})
    assert len(pairs) == len(expected)
    assert not any(problems for _, _, problems in pairs)


def test_a_call_pairs_with_its_own_tool_only():
    """A call of another tool is no partner."""
    assert paired([ExpectedCall("f", {})], [SentCall("g", {}, {})], {}) == []
    assert EQUAL.matches(1, 1.0)


def test_long_lists_are_paired_without_recursion():
    """The last item may move every other to its neighbour."""
    items = [0] * 1_500
    assert fits("unordered", items, list(items))
    assert not fits("unordered", items, [*items[1:], 1])
    expected = [{"a": 1}, {"b": 1}, {}]
    actual = [{"a": 1, "b": 1}, {"a": 1}, {"b": 1}]
    assert fits("subset", expected[::-1], actual)
    assert not fits("subset", [{"a": 1}, {"a": 1}, {"a": 1}], actual)


def test_many_right_calls_are_right_in_any_order():
    """A loose rule lets one call fit two, and the right partners are found all the same."""
    rules = {"text": FieldRule.of("contains"), "*": FieldRule.of("any")}
    expected = [ExpectedCall("f", {"text": text}) for text in ("", *"abcdef")]
    sent = [SentCall("f", {"text": text}, {}) for text in (*"abcdef", "zz")]
    pairs = paired(expected, sent, rules)
    assert len(pairs) == 7
    assert not any(differences for _, _, differences in pairs)
    # One that is wrong is compared with the call that is left, and takes nobody's partner
    wrong = [SentCall("f", {"text": str(number)}, {}) for number in (6, 5, 4, 3, 2, 1, 99)]
    right = [ExpectedCall("f", {"text": str(number)}) for number in range(7)]
    pairs = paired(right, wrong, {})
    assert len(pairs) == 7
    assert sum(bool(differences) for _, _, differences in pairs) == 1
