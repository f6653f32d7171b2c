"""What changes of conditions, patterns and unions mean, each shown by a value or said to be unclear."""

import pytest

from tests.test_mcp.test_snapshots.schema_changes import (
    BREAKING,
    COSMETIC,
    NUMBER,
    TEXT,
    WHOLE,
    items,
    obj,
    one,
    union,
)
from toolbench.errors import SchemaError
from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.snapshots.diff import SEVERITIES, schema_changes

MODE = obj(mode={"enum": ["a", "b"]}, k=WHOLE)
IS_B = {"properties": {"mode": {"const": "b"}}, "required": ["mode"]}


def case(most, **rules):
    """What a condition asks for: `k` is at most that."""
    return {**MODE, "if": IS_B, **{key: one_limit(most) for key in rules}}


def one_limit(most):
    return {"properties": {"k": {"maximum": most}}}


def beside(**conditions):
    """An object with two texts and a number, and conditions."""
    return {**obj(a=TEXT, b=WHOLE, c=TEXT), **conditions}


def keys(**rules):
    """An object within, with rules for its keys."""
    return one({"type": "object", **rules})


def pair(*places, **rules):
    """A list with so many places."""
    return one({"type": "array", "prefixItems": list(places), **rules})


def text(pattern):
    return one({**TEXT, "pattern": pattern})


def between(least, most, kind=WHOLE):
    return {**kind, "minimum": least, "maximum": most}


CODE = r"^[A-Z]{3}-\d{7}$"
"""A pattern that no value that is tried fits."""

# fmt: off
NARROWED = {
    "a value is ruled out": (one(TEXT), one({**TEXT, "not": {"const": "the rare one"}})),
    "a pattern is ruled out": (one(TEXT), one({**TEXT, "not": {"pattern": "^zz"}})),
    "more values are ruled out": (one({**TEXT, "not": {"enum": ["p"]}}), one({**TEXT, "not": {"enum": ["p", "q"]}})),
    "two keys exclude each other": (beside(), beside(**{"not": {"required": ["a", "b"]}})),
    "then asks for more": (case(10, then=1), case(5, then=1)),
    "else asks for more": (case(10, **{"else": 1}), case(5, **{"else": 1})),
    "a key is required in one case": (MODE, {**MODE, "if": IS_B, "then": {"required": ["k"]}}),
    "a key asks for another": (beside(), beside(dependentSchemas={"a": {"required": ["b"]}})),
    "what a key asks for is narrower": (beside(dependentSchemas={"a": {"properties": {"b": {"minimum": 1}}}}), beside(dependentSchemas={"a": {"properties": {"b": {"minimum": 5}}}})),
    "a key asks for one more": (beside(dependentRequired={"a": ["b"]}), beside(dependentRequired={"a": ["b", "c"]})),
    "keys of a pattern are narrower": (keys(patternProperties={"^n_": NUMBER}), keys(patternProperties={"^n_": WHOLE})),
    "keys of a pattern get a rule": (keys(), keys(patternProperties={"^n_": WHOLE})),
    "keys of a pattern are refused": (keys(additionalProperties=False, patternProperties={"^n_": WHOLE}), keys(additionalProperties=False)),
    "fewer keys are allowed": (keys(additionalProperties=False, patternProperties={"^[a-z]+$": WHOLE}), keys(additionalProperties=False, patternProperties={"^[a-c]+$": WHOLE})),
    "names of keys are shorter": (keys(propertyNames={"maxLength": 10}), keys(propertyNames={"maxLength": 3})),
    "a tuple is closed": (pair(WHOLE, TEXT), pair(WHOLE, TEXT, items=False)),
    "a closed tuple is shorter": (pair(WHOLE, TEXT, WHOLE, items=False), pair(WHOLE, TEXT, items=False)),
    "a place of a closed tuple is narrower": (pair(NUMBER, TEXT, items=False), pair(WHOLE, TEXT, items=False)),
    "a list has to contain something": (one(items(WHOLE)), one(items(WHOLE, contains={"const": 3}))),
    "a list has to contain it twice": (one(items(WHOLE, contains={"const": 3})), one(items(WHOLE, contains={"const": 3}, minContains=2))),
    "a list has to have more different items": (one(items({"enum": ["p", "q", "r"]}, minItems=2, uniqueItems=True)), one(items({"enum": ["p", "q", "r"]}, minItems=3, uniqueItems=True))),
    "a pattern takes fewer texts": (text("^(foo|bar|baz)-[0-9]{4}$"), text("^(foo|bar)-[0-9]{4}$")),
    "a pattern is anchored": (text("abc"), text("^abc$")),
    "texts of a pattern are shorter": (one({**TEXT, "pattern": "^[0-9]+$", "maxLength": 9}), one({**TEXT, "pattern": "^[0-9]+$", "maxLength": 4})),
    "a range has a gap": (one(between(0, 10)), one(union(between(0, 5), between(7, 10)))),
    "one alternative only": (one(union(between(0, 5), between(3, 9))), one(union(between(0, 5), between(3, 9), keyword="oneOf"))),
    "a limit of a long text": (one({**TEXT, "maxLength": 65_536}), one({**TEXT, "maxLength": 40_000})),
    "a number of keys beyond each value that is tried": (keys(maxProperties=500), keys(maxProperties=300)),
    "a value of any type gets a limit": (one({}), one({"minItems": 1})),
    "a limit of another type is added": (one({"minLength": 2}), one({"minLength": 2, "multipleOf": 1})),
    "a pattern becomes a list": (text(CODE), one({"enum": ["ABC-1234567"]})),
    "null only": (one({"type": ["string", "null"], "pattern": CODE}), one({"type": "null"})),
    "no long alternative": (one(union({**TEXT, "maxLength": 3}, {**TEXT, "minLength": 3})), one({**TEXT, "maxLength": 3})),
}
EXCHANGED = {
    "an alternative overlaps another, which has no type": (one(union({**obj(b=TEXT), "additionalProperties": False}, {"required": ["a"]}, keyword="oneOf")), one(union(obj(b=TEXT), {"required": ["a"]}, keyword="oneOf"))),
    "another alternative takes it too": (keys(additionalProperties=union(TEXT, WHOLE, keyword="oneOf")), keys(additionalProperties=union(TEXT, NUMBER, WHOLE, keyword="oneOf"))),
    "texts that nobody finds become numbers": (text(CODE), one(WHOLE)),
    "lists of texts that nobody finds become a text": (one(items({**TEXT, "pattern": CODE}, minItems=1)), one(TEXT)),
    "another value is ruled out": (one({**TEXT, "not": {"enum": ["p"]}}), one({**TEXT, "not": {"enum": ["q"]}})),
    "another case": ({**MODE, "if": {"properties": {"mode": {"const": "a"}}, "required": ["mode"]}, "then": {"required": ["k"]}}, {**MODE, "if": IS_B, "then": {"required": ["k"]}}),
    "a key asks for another one": (beside(dependentRequired={"a": ["b"]}), beside(dependentRequired={"a": ["c"]})),
    "a list has to contain another item": (one(items(WHOLE, contains={"const": 3})), one(items(WHOLE, contains={"const": 4}))),
    "a pattern takes other texts": (text("^[0-9a-f]{8}-[0-9a-f]{4}$"), text("^[0-9a-f]{8}-[0-9a-f]{6}$")),
}
SAME = {
    "a range that was split": (one(between(0, 10)), one(union(between(0, 5), between(6, 10)))),
    "a range of numbers that was split": (one(between(0, 10, NUMBER)), one(union(between(0, 5, NUMBER), between(5, 10, NUMBER)))),
    "a short range that is listed now": (one(between(1, 2)), one({"enum": [1, 2]})),
    "lengths that were split": (one({**TEXT, "maxLength": 9}), one(union({**TEXT, "maxLength": 5}, {**TEXT, "minLength": 6, "maxLength": 9}))),
}
# None of the values that are tried is refused
UNSHOWN = {
    "a value is ruled out", "a pattern is ruled out", "more values are ruled out", "then asks for more",
    "keys of a pattern are narrower", "keys of a pattern get a rule", "keys of a pattern are refused",
    "fewer keys are allowed", "a tuple is closed", "a list has to contain it twice", "a pattern takes fewer texts",
    "a number of keys beyond each value that is tried",
    "a pattern becomes a list", "null only",
}
# No value shows that a changed condition takes all that it took
UNPROVED = UNSHOWN - {"a value is ruled out", "a pattern is ruled out"} | {
    "else asks for more", "what a key asks for is narrower", "a key asks for one more", "names of keys are shorter",
    "a closed tuple is shorter", "a pattern is anchored",
}
# fmt: on


def changes_of(before, after, direction="input"):
    return schema_changes("tools/t/inputSchema", "t", direction, before, after)


def worst(changes):
    return min((c.severity for c in changes), key=SEVERITIES.index)


def is_shown(before, after, change):
    """Whether the example of a change was valid, is refused now, and stands in the sentence."""
    if change.example is None or "is refused now" not in change.text:
        return False
    return validator_of(before).is_valid(change.example) and not validator_of(after).is_valid(
        change.example
    )


def is_no_alarm(name, changes):
    """Whether *changes* break nobody, or say of a condition that nothing shows whether they do."""
    breaking = [c for c in changes if c.severity == BREAKING]
    if name in UNPROVED:
        return all("cannot tell" in c.text and c.example is None for c in breaking)
    return not breaking


@pytest.mark.parametrize("name", NARROWED)
class TestNarrowed:
    def test_breaks_and_shows_a_value(self, name):
        """A value that was valid and is refused now is named, and the validator agrees."""
        before, after = NARROWED[name]
        changes = [c for c in changes_of(before, after) if c.severity == BREAKING]
        assert changes
        shown = any(is_shown(before, after, change) for change in changes)
        assert shown == (name not in UNSHOWN)

    def test_taken_back_it_only_adds(self, name):
        """The way back takes more values: that is no alarm, or an alarm that claims no example."""
        before, after = NARROWED[name]
        assert is_no_alarm(name, changes_of(after, before))

    def test_of_output_it_is_the_other_way_round(self, name):
        """Fewer outputs break nobody, more do."""
        before, after = NARROWED[name]
        assert is_no_alarm(name, changes_of(before, after, "output"))
        assert worst(changes_of(after, before, "output")) == BREAKING


@pytest.mark.parametrize("name", EXCHANGED)
def test_what_was_exchanged_breaks_both_ways(name):
    """Some values are refused now, others are taken, there and back."""
    for before, after in (EXCHANGED[name], EXCHANGED[name][::-1]):
        assert worst(changes_of(before, after)) == BREAKING


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("direction", ["input", "output"])
def test_what_says_the_same_is_no_alarm(name, direction):
    """Written otherwise it takes the same values: cosmetic, there and back."""
    before, after = SAME[name]
    assert worst(changes_of(before, after, direction)) == COSMETIC
    assert worst(changes_of(after, before, direction)) == COSMETIC


def kind(name, **properties):
    """An object that a constant tells apart."""
    return obj(kind={"const": name}, **properties)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (one(TEXT), text("^a+$"), "x: no such limit before, matches ^a+$ now"),
        (text("^a+$"), one(TEXT), "x: matches ^a+$ before, no such limit now"),
        (
            {**one({"$ref": "#/$defs/d"}), "$defs": {"d": TEXT}},
            {**one({"$ref": "#/$defs/d"}), "$defs": {"d": WHOLE}},
            "x: string before, integer now",
        ),
        (
            one({"enum": ["a", "b", "d"]}),
            one({"enum": ["a", "c"]}),
            'x: "b", "d" are no longer allowed and "c" is allowed now (3 values before, 2 now)',
        ),
        (
            one(union(kind("x"), kind("y", n=WHOLE))),
            one(union(kind("x"))),
            'x: object of kind, n with kind "y" is no longer allowed',
        ),
        (
            one(union(kind("x", n=WHOLE), kind("y", n=WHOLE))),
            one(union(kind("y", n=NUMBER), kind("x", n=WHOLE))),
            "x.n: integer before, number now",
        ),
    ],
)  # fmt: skip
def test_what_was_and_what_is_are_told(before, after, words):
    """Values, patterns and alternatives stand in the sentence as the schemas have them."""
    [change] = changes_of(before, after)
    assert change.text.startswith(f"t: {words}")


class TestUnclear:
    @pytest.mark.parametrize(
        ("direction", "words"),
        [
            ("input", "cannot tell whether a call is refused: no example was found"),
            ("output", "cannot tell whether such an output comes: no example was"),
        ],
    )
    def test_what_nothing_shows_is_said(self, direction, words):
        """Where no value is found, the sentence does not claim that there is one."""
        before, after = text("^(?!zz).*$"), text("^(?!yy).*$")
        [change] = changes_of(before, after, direction)
        assert change.severity == BREAKING
        assert change.example is None
        assert words in change.text

    def test_what_needs_no_example_claims_none(self):
        """A server may ignore an argument that it does not declare any more."""
        [change] = changes_of(obj(a=TEXT, b=TEXT), obj(a=TEXT))
        assert change.text.endswith("a server may refuse it, or ignore it.")


class TestHostile:
    @pytest.mark.parametrize("least", [9_999, 10_000])
    def test_lists_of_lists_are_not_made_whole(self, least):
        """A schema that asks for 10,000 x 10,000 items is compared, or said to be too large."""
        inner = items(TEXT, minItems=least)
        before, after = (one(items(inner, minItems=10_000, maxItems=n)) for n in (10_002, 10_001))
        try:
            assert worst(changes_of(before, after)) == BREAKING
        except SchemaError as error:
            assert "too many parts" in str(error)

    @pytest.mark.slow
    def test_a_schema_that_requires_itself_is_not_followed_to_the_end(self):
        """Each level has eight times as many keys as the one before."""

        def itself(count):
            names = [f"p{n}" for n in range(count)]
            ref = {"$ref": "#/$defs/N"}
            inner = {"type": "object", "properties": dict.fromkeys(names, ref), "required": names}
            return {**obj(a=ref), "$defs": {"N": inner}}

        try:
            assert worst(changes_of(itself(8), itself(9))) == BREAKING
        except SchemaError as error:
            assert "too many parts" in str(error)

    def test_a_list_of_objects_is_not_compared_one_by_one(self):
        """20,000 x 20,000 comparisons would take minutes."""
        before, after = ([{"k": n} for n in range(start, start + 20_000)] for start in (0, 1))
        with pytest.raises(SchemaError, match="too many parts"):
            changes_of(one({"enum": before}), one({"enum": after}))
