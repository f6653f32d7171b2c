"""The value of a form: three states, exact in both directions, whatever the schema says."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pandas as pd
import pytest
from corpus import CORPUS, lines_of, needs_corpus
from hypothesis import HealthCheck, example, given, settings

from test_widgets.front import named, type_into
from test_widgets.schemas import JUNK, NAMES, OBJECTS, ROOTS
from toolbench.values import same_json
from toolbench.widgets.form import SchemaForm

_SLOW = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _required(**properties: Any) -> dict[str, Any]:
    return {**_object(**properties), "required": list(properties)}


def _matrix() -> Iterator[Any]:
    for case in lines_of("matrix_cases.jsonl") if CORPUS.is_dir() else []:
        for _, value in case["ex"]:
            yield pytest.param(case["inputSchema"], value, id=case["name"])


class TestThreeStates:
    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "string"},
            {"type": "string", "default": "x"},
            {"type": "integer", "default": 3},
            {"type": "boolean", "default": False},
            {"type": "boolean"},
            {"enum": ["a", "b"]},
            {"type": "array", "items": {"type": "string"}, "default": []},
            {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
            {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]},
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            {
                "anyOf": [
                    {"type": "string"},
                    {"type": "object", "properties": {"a": {}}},
                ]
            },
            {"const": "only"},
            {},
        ],
    )
    def test_an_untouched_optional_field_is_not_sent(self, schema):
        """Not its default, not an empty value, not a constant: nothing."""
        form = SchemaForm(_object(x=schema))
        assert form.widget is not None
        assert form.value == {}

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "boolean"},
            {"enum": ["a", "b"]},
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "array"}, "minItems": 1},
            _required(a={"type": "string"}),
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {},
        ],
    )
    def test_an_untouched_required_field_is_missing(self, schema):
        """Not `""`, not 0, not false: the value lacks it, and `errors` says so."""
        form = SchemaForm(_required(x=schema))
        assert form.widget is not None
        assert form.value == {}
        # What is missing of a group
        inside = tuple(schema.get("required", ()))
        assert form.errors == [(("x", *inside), "is required")]
        assert not form.blocked

    def test_a_required_constant_is_filled_in(self):
        """There is nothing to choose, so it is there from the start."""
        assert SchemaForm(_required(kind={"const": "cat"})).value == {"kind": "cat"}

    def test_a_required_object_that_needs_nothing_is_there(self):
        """Every key of it is optional: `{}` is what it says."""
        form = SchemaForm(_required(options=_object(deep={"type": "boolean"})))
        assert form.value == {"options": {}}
        assert form.errors == []

    @pytest.mark.parametrize("value", [{}, {"x": None}, {"x": ""}, {"x": "v"}])
    def test_unset_null_empty_and_a_value_are_four_things(self, value):
        """Each of them is held, and none turns into another."""
        schema = _object(x={"anyOf": [{"type": "string"}, {"type": "null"}]})
        form = SchemaForm(schema, {"x": "before"})
        form.value = value
        assert form.value == value

    def test_what_was_set_is_exact_even_where_a_constant_is_missing(self):
        """A constant is filled in on an untouched form, never into a value that was set."""
        form = SchemaForm(_required(kind={"const": "cat"}))
        form.value = {}
        assert form.value == {}
        assert form.errors == [(("kind",), "is required")]

    def test_what_was_set_is_exact_however_deep_a_constant_is_missing(self):
        """Also where required objects start closed."""
        schema, value = _required(kind={"const": "cat"}), {"name": "Tom"}
        for _ in range(6):
            schema, value = _required(inside=schema), {"inside": value}
        form = SchemaForm(schema)
        form.value = value
        assert form.value == value


class TestExactness:
    @needs_corpus
    @pytest.mark.parametrize(("schema", "value"), list(_matrix()))
    def test_one_construct_at_a_time(self, schema, value):
        """Every construct of JSON Schema and pydantic holds its value, valid and exact."""
        form = SchemaForm(schema)
        assert form.widget is not None
        form.value = value
        assert same_json(form.value, value)
        assert form.errors == []

    @pytest.mark.parametrize(
        "value",
        [
            {"n": 1},
            {"n": 1.0},
            {"n": True},
            {"n": -0.0},
            {"n": 2**63 + 1},
            {"n": 1e308},
            {"n": "1"},
            {"n": [1]},
            {"n": 10**5000},
        ],
    )
    def test_numbers_keep_their_type_and_digits(self, value):
        """`1`, `1.0`, `true` and `"1"` are four values; no digit is lost at any size."""
        form = SchemaForm(_object(n={"type": "integer"}))
        form.value = value
        assert same_json(form.value, value)

    def test_keys_keep_their_order(self):
        """The order is that of what was set, not that of the schema."""
        form = SchemaForm(_object(a={}, b={}, c={"type": "object"}))
        for keys in ("abc", "cab", "xbya"):
            form.value = dict.fromkeys(keys, 1)
            assert list(form.value) == list(keys)

    @pytest.mark.parametrize("odd", [float("inf"), b"bytes", date(2026, 11, 21), {1, 2}])
    @pytest.mark.parametrize("schema", [{"type": "number"}, {"type": "string"}, {}])
    def test_values_nothing_can_send_are_held_and_reported(self, schema, odd):
        """Infinity and bytes are no JSON: the form holds them, and says so."""
        form = SchemaForm(_object(n=schema))
        form.value = {"n": odd}
        assert form.widget is not None
        assert form.value == {"n": odd}
        assert form.errors
        assert form.json == "…"

    def test_what_was_typed_for_another_shape_is_json(self):
        """An object becomes a list when its tool is loaded again: its texts are kept as JSON."""
        part = _object(a={"type": "string"}, n={"type": "integer"})
        old = SchemaForm(_required(x=part), {"x": {"a": "b"}})
        type_into(named(old.widget, "n"), "1z")
        form = SchemaForm(_object(x={"type": "array", "items": {"type": "string"}}))
        form.take_over(old.typed)
        assert form.value == {"x": {"a": "b", "n": "1z"}}

    def test_a_secret_number_of_any_length_is_held(self):
        """An integer Python refuses to print is still a secret, and still a value."""
        form = SchemaForm(_object(n={"type": "integer", "format": "password"}))
        form.value = {"n": 10**5000, "zz": 1}
        form.reveal_errors()
        assert form.value == {"n": 10**5000, "zz": 1}
        assert "<secret-hidden>" in form.json

    def test_a_value_is_a_copy(self):
        """What a caller does to a value it was given changes nothing in the form."""
        given_value = {"a": {"b": [1]}, "e": [1]}
        form = SchemaForm(_object(a={}, e={"enum": [[1], [2]]}), given_value)
        form.value["a"]["b"].append(2)
        form.value["e"].append(2)
        given_value["a"]["b"].append(3)
        assert form.value == {"a": {"b": [1]}, "e": [1]}

    def test_only_a_dict_can_be_set(self):
        """Arguments are an object; anything else is wrong use."""
        with pytest.raises(TypeError, match=r"A form holds a dict, not \[1\]"):
            SchemaForm({}).value = [1]  # type: ignore[assignment]


class TestRecursion:
    def test_two_required_branches_end(self):
        """What requires itself twice has no end: its form opens to a few levels, and holds values."""
        twice = {"a": {"$ref": "#"}, "b": {"$ref": "#"}}
        form = SchemaForm({"type": "object", "properties": twice, "required": ["a", "b"]})
        deep: dict[str, object] = {}
        for _ in range(12):
            deep = {"a": deep}
        for value in ({}, {"a": {}}, deep, {}):
            form.value = value
            assert same_json(form.value, value)
            assert form.widget is not None
        form.close()


class TestProperties:
    @pytest.mark.slow
    @_SLOW
    @given(ROOTS, OBJECTS, OBJECTS)
    def test_every_value_comes_back(self, schema, first, second):
        """For every schema and dicts v: set and get is v, however often, shown or not."""
        form = SchemaForm(schema)
        form.value = first
        assert same_json(form.value, first)
        assert form.widget is not None
        form.value = second
        assert same_json(form.value, second)
        form.json_widget  # noqa: B018 - building it is the point
        form.value = first
        form.json = form.json
        assert same_json(form.value, first)
        form.reveal_errors()
        form.close()

    @pytest.mark.slow
    @_SLOW
    @given(JUNK, OBJECTS)
    @example({"type": [], "const": [], "anyOf": [None, {}]}, {})
    def test_a_schema_that_is_none_still_gives_a_form(self, schema, value):
        """Whatever stands in the place of the schema: nothing raises, and values are held."""
        form = SchemaForm(schema)
        assert form.widget is not None
        assert isinstance(form.errors, list)
        form.value = value
        assert same_json(form.value, value)

    @pytest.mark.slow
    @_SLOW
    @given(NAMES, JUNK, OBJECTS)
    def test_a_property_that_is_no_schema_still_gives_a_field(self, name, schema, value):
        """The same one level down, where each kind of editor meets its own junk."""
        form = SchemaForm(_object(**{name: schema}))
        assert form.widget is not None
        form.value = value
        assert same_json(form.value, value)
        form.reveal_errors()

    def test_an_array_is_a_value(self):
        """It is neither true nor false; that it is no JSON is an error of the form, not of Python."""
        array = pd.Series(range(2)).to_numpy()
        form = SchemaForm(_object(n={"type": "array"}))
        form.value = {"n": array}
        assert form.value["n"] is array
        [error] = form.errors
        assert "cannot be sent as JSON" in error[1]
