"""What a change of a schema means: a table of known changes, and laws for all others."""

import json
import re

import jsoncompat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_mcp.test_snapshots.schema_changes import (
    ADDITIVE,
    BREAKING,
    COSMETIC,
    SCHEMA_CHANGES,
)
from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.snapshots.diff import SEVERITIES, schema_changes

_SEEN_OTHERWISE = {
    "optional property added": "an open object took any value under that name before",
    "optional property removed": "no call is refused by an open object",
    "required property removed": "no call is refused by an open object",
    "pattern introduced": "it does not look at patterns",
    "pattern changed": "it does not look at patterns",
    "pattern anchored": "it does not look at patterns",
    "pattern takes one word more": "it does not look at patterns",
    "what a key asks for, in the older spelling": "it does not read the older keyword",
    "kind of object added": "it does not see that a constant tells kinds apart",
    "kinds of objects in another order": "it does not see that a constant tells kinds apart",
    "allOf put together": "it does not put the parts of allOf together",
    "condition dropped": "it has no rule for conditions",
}
"""Cases in which jsoncompat judges otherwise, by the letter or for lack of a rule."""


_TYPES = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "integer with limits": {"type": "integer", "default": 3, "minimum": 1, "maximum": 9},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "integer"}},
    "object": {"type": "object", "properties": {"z": {"type": "integer"}}},
    "choice": {"enum": ["b", "c"]},
    "integer or null": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    "anything": {},
}


def changes_of(before, after, direction="input"):
    return schema_changes("tools/t/inputSchema", "t", direction, before, after)


@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("is_required", [False, True])
def test_a_new_property_breaks_only_a_call_that_must_have_it(direction, is_closed, is_required):
    """Whatever its type is, and whatever other properties there are."""
    verdicts = {}
    for name, schema in _TYPES.items():
        old = {"of": {"type": "string"}, "count": {"type": "integer"}}
        before, after = ({"type": "object", "properties": p} for p in (old, {**old, "b": schema}))
        if is_closed:
            before["additionalProperties"] = after["additionalProperties"] = False
        if is_required:
            after["required"] = ["b"]
        changes = changes_of(before, after, direction)
        verdicts[name] = min((c.severity for c in changes), key=SEVERITIES.index)
    expected = BREAKING if is_required and direction == "input" else ADDITIVE
    assert verdicts == dict.fromkeys(_TYPES, expected)


def worst(changes):
    return min((c.severity for c in changes), key=SEVERITIES.index, default=None)


def jsoncompat_breaks(before, after):
    """Whether a second reader of schemas sees a call refused."""
    texts = map(json.dumps, (before, after))
    return not jsoncompat.check_compat(*texts, "deserializer")


DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
WHOLE, TEXT = {"type": "integer"}, {"type": "string"}
FIRST = {"type": "array", "items": [WHOLE]}


def place(schema, depth=1, **more):
    """A schema with *schema* as a place in it, as deep as that."""
    for _ in range(depth):
        schema = {"type": "object", "properties": {"v": schema}, "required": ["v"]}
    return {**schema, **more}


BREAKS = {
    "a type is stated": (place({"minLength": 1}), place({"minLength": 1, **TEXT})),
    "another key is named": (
        {"type": "object", "additionalProperties": WHOLE},
        {"type": "object", "additionalProperties": WHOLE, "properties": {"a": TEXT}},
    ),
    "further items change": (
        {**DRAFT_7, **place({**FIRST, "additionalItems": WHOLE})},
        {**DRAFT_7, **place({**FIRST, "additionalItems": TEXT})},
    ),
    "further items are refused": (
        {**DRAFT_7, **place(FIRST)},
        {**DRAFT_7, **place({**FIRST, "additionalItems": False})},
    ),
    "far down": (place({"type": "number"}, 80), place(WHOLE, 80)),
}
SAYS_THE_SAME = {
    "whole numbers by step": (place(WHOLE), place({"type": "number", "multipleOf": 1})),
    "one item differs from itself": (
        place({"type": "array", "maxItems": 1}),
        place({"type": "array", "maxItems": 1, "uniqueItems": True}),
    ),
}


class TestMeaning:
    @pytest.mark.parametrize("name", BREAKS)
    def test_what_refuses_a_value_breaks(self, name):
        """A change by which a value does not fit any more is breaking, wherever it stands."""
        assert worst(changes_of(*BREAKS[name])) == BREAKING

    @pytest.mark.parametrize("name", SAYS_THE_SAME)
    @pytest.mark.parametrize("direction", ["input", "output"])
    def test_what_takes_the_same_values_does_not(self, name, direction):
        """Another way to write the same is cosmetic, there and back."""
        before, after = SAYS_THE_SAME[name]
        assert worst(changes_of(before, after, direction)) == COSMETIC
        assert worst(changes_of(after, before, direction)) == COSMETIC

    def test_a_new_key_of_output_hides_no_other_change(self):
        """What else comes otherwise is breaking, also where a key is new."""
        dynamic = {"$dynamicAnchor": "d"}
        before = place({"$dynamicRef": "#d"}, **{"$defs": {"d": {**WHOLE, **dynamic}}})
        after = place({"$dynamicRef": "#d"}, **{"$defs": {"d": {**TEXT, **dynamic}}})
        after["properties"] = {**after["properties"], "n": WHOLE}
        assert worst(changes_of(before, after, "output")) == BREAKING


class TestTheTable:
    # Each change is a promise: what breaks a caller and what does not
    @pytest.mark.every_case
    @pytest.mark.parametrize("case", SCHEMA_CHANGES, ids=lambda case: case.name)
    def test_a_change_means_what_is_known_of_it(self, case):
        """For arguments, for output, taken back; in a sentence, with an example where it breaks."""
        changes = changes_of(case.before, case.after)
        assert worst(changes) == case.as_input
        assert worst(changes_of(case.before, case.after, "output")) == case.as_output
        # What only adds, taken back, breaks; what changes no meaning does not either way
        taken_back = {ADDITIVE: BREAKING, COSMETIC: COSMETIC}
        if case.as_input in taken_back:
            backwards = worst(changes_of(case.after, case.before))
            assert backwards == taken_back[case.as_input]
        before, after = validator_of(case.before), validator_of(case.after)
        for change in changes:
            assert re.fullmatch(r"t: .+\.", change.text)
            assert change.where.startswith("tools/t/inputSchema")
            if change.example is not None:
                assert before.is_valid(change.example)
                assert not after.is_valid(change.example)
        # It reads only the newest dialect
        if "$schema" not in case.before:
            breaks = jsoncompat_breaks(case.before, case.after)
            assert (breaks != (case.as_input == BREAKING)) == (case.name in _SEEN_OTHERWISE)

    def test_most_breaking_changes_have_an_example(self):
        """Only what a schema itself does not refuse, or what nothing can show, has no example."""
        without = {
            case.name
            for case in SCHEMA_CHANGES
            if case.as_input == BREAKING
            and all(c.example is None for c in changes_of(case.before, case.after))
        }
        assert without == {
            "optional property removed",
            "required property removed",
            "property renamed",
            # No value shows that the changed rule takes all that it took
            "pattern takes one word more",
            "what keys ask for, in both spellings",
        }


SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
        {"enum": ["a", 1]},
        {"const": "a"},
        {"type": "integer", "minimum": 0},
        {"type": "integer", "maximum": 1},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "minLength": 2},
        {"type": "string", "maxLength": 1},
        {"type": ["string", "null"]},
        {"type": ["string", "integer"]},
        {},
    ]
)


def _objects(inner):
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": [name for name in required if name in properties],
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        st.lists(st.sampled_from("ab"), unique=True),
        st.booleans(),
    )


SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        _objects(inner),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(
            lambda item, least: {"type": "array", "items": item, "minItems": least},
            inner,
            st.integers(0, 2),
        ),
        st.builds(lambda *parts: {"anyOf": list(parts)}, inner, inner),
        st.builds(lambda *parts: {"allOf": list(parts)}, inner, inner),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 2, 0.5, "", "a", "ab", "abc"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=4,
)


class TestAnyTwoSchemas:
    @settings(max_examples=200, deadline=None)
    @given(st.data())
    def test_a_call_that_is_refused_now_is_a_breaking_change(self, data):
        """If a value fitted and fits no more, the change is breaking."""
        before, after = data.draw(SCHEMAS), data.draw(SCHEMAS)
        value = data.draw(VALUES)
        if validator_of(before).is_valid(value) and not validator_of(after).is_valid(value):
            assert worst(changes_of(before, after)) == BREAKING

    @settings(max_examples=100, deadline=None)
    @given(SCHEMAS)
    def test_a_schema_does_not_differ_from_itself(self, schema):
        """Compared with itself, or with itself in other words, nothing breaks or is added."""
        assert worst(changes_of(schema, schema)) == COSMETIC
        other = {"$ref": "#/$defs/x", "$defs": {"x": schema}}
        assert worst(changes_of(schema, other)) == COSMETIC
        assert worst(changes_of(other, schema)) == COSMETIC

    @settings(max_examples=100, deadline=None)
    @given(SCHEMAS, SCHEMAS)
    def test_examples_are_what_they_say(self, before, after):
        """An example of a breaking change fitted before and does not fit now; output: reversed."""
        old, new = validator_of(before), validator_of(after)
        for change in changes_of(before, after):
            if change.example is not None:
                assert old.is_valid(change.example)
                assert not new.is_valid(change.example)
        for change in changes_of(before, after, "output"):
            if change.example is not None:
                assert new.is_valid(change.example)
                assert not old.is_valid(change.example)

    @pytest.mark.parametrize("schema", [True, False, None, 7, [], {"type": 3}, {"$ref": "#"}])
    def test_what_is_no_schema_does_not_raise(self, schema):
        """Whatever a server writes there, comparing gives changes."""
        assert changes_of(schema, {"type": "object"})
        assert changes_of({"type": "object"}, schema)


class TestTheCorpus:
    def test_against_itself_nothing_differs(self, published):
        """No schema of a real tool is found to differ from a copy of itself."""
        for tool in published:
            schema = tool["inputSchema"]
            copy = json.loads(json.dumps(schema))
            assert worst(changes_of(schema, copy)) == COSMETIC, tool["name"]

    def test_a_new_required_argument_is_never_missed(self, published):
        """An argument that every real tool requires newly breaks every one of them."""
        for tool in published:
            before = tool["inputSchema"]
            after = json.loads(json.dumps(before))
            after["required"] = [*(after.get("required") or []), "zzz"]
            after["properties"] = {**(after.get("properties") or {}), "zzz": {}}
            changes = [c for c in changes_of(before, after) if c.severity == BREAKING]
            assert [c.where for c in changes] == ["tools/t/inputSchema/required"], tool["name"]
