"""Whatever a value is, its parts are known and it can be written down: as text, and as JSON."""

import json
import math
from collections import deque, namedtuple
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path

import pandas
import pytest
from hostile_values import HOSTILE, Mute
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel

from toolbench.display.json_tree import json_text
from toolbench.display.tables import table_html
from toolbench.jsonschema.checks import holds_null
from toolbench.magics.table import Listing
from toolbench.values import (
    NOT_KEPT,
    as_sent,
    clip,
    each_once,
    every_part,
    key_text,
    mapped,
    parts,
    plain,
    sendable,
    sentence,
    text_of,
)

# by name: Hypothesis prints its strategies, and these values cannot be printed
HOSTILE_VALUES = st.sampled_from(sorted(HOSTILE)).map(lambda name: HOSTILE[name])
HOSTILE_KEYS = st.sampled_from(["big integer", "half a character", "mute object"]).map(
    lambda name: HOSTILE[name]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | HOSTILE_VALUES
)
KEYS = st.text() | st.integers() | st.none() | HOSTILE_KEYS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(KEYS, inner),
    max_leaves=20,
)


def test_a_table_of_hostile_values_is_shown():
    """Lists of magics and tables of results show what can be shown of every cell."""
    rows = [(name, value) for name, value in HOSTILE.items()]
    listing = Listing(("name", "value"), rows, "none")
    for text in (*listing._repr_mimebundle_().values(), repr(listing)):
        assert "an integer of about 5,001 digits" in text.replace("\n", " ")
    frame = pandas.DataFrame({"value": [10**5_000, "plain"]})
    assert "about 5,001 digits" in table_html(frame)


@given(VALUES)
def test_every_value_is_text_and_json(value):
    """No value makes either raise, and the JSON is as strict as JSON can be."""
    assert isinstance(text_of(value), str)
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == plain(value)


@given(VALUES)
def test_what_is_sent_is_read_by_the_strictest_reader(value):
    """UTF-8 has no half of a character, and JSON neither NaN nor infinity."""
    text = json.dumps(sendable(value), ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode()) == sendable(value)


@given(st.recursive(st.integers() | st.text() | st.booleans(), st.lists, max_leaves=9))
def test_what_can_be_written_is_unchanged(value):
    """Only what Python or JSON cannot write is written otherwise."""
    assert text_of(value) == repr(value)
    assert plain(value) == value


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_hostile_values(value):
    """Cycles, depth and other people's code are no exception."""
    assert text_of(value)
    assert text_of([value, 10**5_000])
    json.dumps(plain({"x": [value]}), allow_nan=False)


@pytest.mark.parametrize("digits", [4_299, 4_300, 4_301, 5_000])
def test_an_integer_is_written_if_python_can(digits):
    """Up to Python's limit it stays a number; beyond, it says how long it is."""
    number = 10**digits - 1
    written = plain([number])[0]
    if digits <= 4_300:
        assert written == number
    else:
        words = f"an integer of about {digits + 1:,} digits"
        assert written == f"… {words}{NOT_KEPT}"
        assert text_of({"n": number}) == f"{{'n': <{words}>}}"


def test_the_parts_that_can_be_written_are():
    """One value that cannot say anything does not silence the others."""
    assert text_of({"a": [1, Mute()], (2,): {3}}) == (
        "{'a': [1, <Mute whose repr raises RuntimeError>], (2,): {3}}"
    )
    assert plain({"a": [1, Mute()], 2: math.inf, "b": b"\xff"}) == {
        "a": [1, "<Mute whose repr raises RuntimeError>"],
        "2": "inf",
        "b": "/w==",
    }


def test_objects_are_looked_into():
    """Models and dataclasses are their fields, also beside what cannot be written."""

    @dataclass
    class Point:
        x: int

    class Model(BaseModel):
        point: object

    value = [Mute(), Point(1), Model(point=Point(2))]
    assert plain(value)[1:] == [{"x": 1}, {"point": {"x": 2}}]


def test_a_value_inside_itself_is_cut():
    """Of arguments of which one contains itself, the others are written as they are."""
    circle = [1]
    circle.append(circle)
    assert plain({"a": 1, "tree": circle, 2: {"b": math.nan}}) == {
        "a": 1,
        "tree": [1, "..."],
        "2": {"b": "nan"},
    }


def test_shared_parts_are_no_cycle():
    """The same list twice is written twice."""
    shared = [1]
    assert plain([shared, shared, Mute()])[:2] == [[1], [1]]
    assert text_of([shared, shared, 10**5_000]).startswith("[[1], [1], ")


def test_keys_and_errors():
    """A key is what JSON makes of it; an error that cannot speak names what it holds."""
    assert [key_text(key) for key in ("a", 1, None, (1,))] == ["a", "1", "None", "(1,)"]
    assert sentence(ValueError("no")) == "no"
    assert sentence(ValueError(10**5_000)).endswith("digits>")


class Color(Enum):
    RED = "red"
    PAIR = (1, 2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Color.RED, '"red"'),
        ([Color.RED, Color.PAIR], '["red", [1, 2]]'),
        ({"day": date(2026, 2, 3)}, '{"day": "2026-02-03"}'),
        (Path("a/b"), '"a/b"'),
        (Decimal("1.50"), '"1.50"'),
    ],
)
def test_what_an_argument_may_be_is_written_as_it_is_sent(value, text):
    """A member of an enum, a date, a path: in a line and in a tree, as the form has it."""
    assert clip(value) == text
    assert json.loads(json_text(value)) == json.loads(text)
    assert json.dumps(as_sent(value)) == text


def test_other_objects_stay_what_they_are():
    """A form takes them along, and sends them again."""
    thing = object()
    assert as_sent({"a": [thing]})["a"][0] is thing


def test_parts():
    """What is directly inside a value, by the names of JSON; every part once, even if it contains itself."""

    class Model(BaseModel):
        point: int = Field(alias="at")

    Pair = namedtuple("Pair", "left right")
    for value, expected in [
        (Model(at=1), {"at": 1}),
        (RootModel[list[int]]([1]), [1]),
        (Pair(1, 2), {"left": 1, "right": 2}),
        ((1, 2), [1, 2]),
        ({}, {}),
        ("text", None),
        (b"bytes", None),
        (Model, None),
    ]:
        assert parts(value) == expected
    circle = [1, {"a": None}]
    circle.append(circle)
    assert list(every_part(circle)) == [circle, 1, circle[1], None]
    assert holds_null(circle)


def test_mapped():
    """Collections become dicts and lists; the leaves are those of the function, and so are the keys."""
    value = {"a": (1, {2}), "b": deque([3])}
    assert mapped(value, str) == {"a": ["1", ["2"]], "b": ["3"]}
    assert mapped({"a": 1}, str, str.upper) == {"A": "1"}


@pytest.mark.parametrize("text", ["{}", '{"a": 1, "b": {"a": 1}}'])
def test_an_object_that_says_each_key_once_is_read(text):
    """The same key in another object is another key."""
    assert json.loads(text, object_pairs_hook=each_once) == json.loads(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]'])
def test_a_key_that_stands_there_twice_is_refused(text):
    """Whatever its values, and however deep it stands."""
    with pytest.raises(ValueError, match='the key "a" is there twice'):
        json.loads(text, object_pairs_hook=each_once)
