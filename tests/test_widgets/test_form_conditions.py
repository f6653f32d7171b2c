"""`if`, `then` and `else`: the fields of the case that holds, and no others."""

from typing import Any, ClassVar

import ipywidgets as w

from test_widgets.front import named, pick, type_into, walk
from toolbench.widgets.form import SchemaForm


def _labels(form: SchemaForm) -> list[str]:
    return [
        widget.description
        for widget in walk(form.widget)
        if isinstance(widget, w.Text | w.Dropdown | w.RadioButtons)
    ]


def test_a_title_that_only_repeats_the_name_is_left_out():
    """As pydantic makes one of each name; a title of one's own is the label."""
    first = {"type": "string", "title": "First Name"}
    city = {"type": "string", "title": "Town"}
    form = SchemaForm({"type": "object", "properties": {"first_name": first, "city": city}})
    assert _labels(form) == ["first_name", "Town"]


class TestCases:
    _SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"kind": {"enum": ["card", "cash"]}},
        "if": {"properties": {"kind": {"const": "card"}}, "required": ["kind"]},
        "then": {"properties": {"number": {"type": "string"}}, "required": ["number"]},
        "else": {"$ref": "#/$defs/Cash"},
        "$defs": {"Cash": {"properties": {"change": {"type": "integer"}}}},
    }

    def test_the_fields_of_the_case_that_holds_are_shown(self):
        """They come and go with what decides."""
        form = SchemaForm(self._SCHEMA)
        assert _labels(form) == ["kind", "change"]
        pick(named(form.widget, "kind"), "card")
        assert _labels(form) == ["kind", "number"]
        pick(named(form.widget, "kind"), "cash")
        assert _labels(form) == ["kind", "change"]

    def test_what_was_typed_stays_in_sight(self):
        """A value that is sent is never hidden, whatever the case."""
        form = SchemaForm(self._SCHEMA)
        type_into(named(form.widget, "change"), "5")
        pick(named(form.widget, "kind"), "card")
        assert _labels(form) == ["kind", "number", "change"]
        assert form.value == {"kind": "card", "change": 5}
        assert form.errors == [(("number",), "is required")]

    def test_every_value_is_held(self):
        """Keys of both cases, and of none, in their order."""
        value = {"change": 1, "number": "2", "odd": 3, "kind": "cash"}
        form = SchemaForm(self._SCHEMA, value)
        assert list(form.value.items()) == list(value.items())

    def test_conditions_stand_in_all_of_as_well(self):
        """Each on its own."""
        conditions = [
            {
                "if": {"properties": {name: {"const": "x"}}, "required": [name]},
                "then": {"properties": {f"more_{name}": {"type": "string"}}},
            }
            for name in ("a", "b")
        ]
        text = {"type": "string"}
        schema = {"type": "object", "properties": {"a": text, "b": text}}
        form = SchemaForm({**schema, "allOf": conditions}, {"b": "x"})
        assert _labels(form) == ["a", "b", "more_b"]

    def test_odd_conditions_are_ignored(self):
        """A schema may say anything."""
        for condition in (True, 3, None, {"properties": 4}, {"$ref": "#/gone"}):
            schema = {**self._SCHEMA, "if": condition, "then": condition, "else": []}
            form = SchemaForm(schema, {"kind": "card", "x": 1})
            assert form.widget is not None
            assert form.value == {"kind": "card", "x": 1}
