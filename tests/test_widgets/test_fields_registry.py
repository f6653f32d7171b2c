"""Users add editors of their own, and say per field how it is to be edited."""

from typing import Any

import ipywidgets as w
import pytest
from pydantic import BaseModel, Field

from test_widgets.front import named, only, page, receive, type_into, walk
from toolbench.widgets import fields
from toolbench.widgets.fields import UNSET, Editor, Registry
from toolbench.widgets.form import SchemaForm

_COLOR = {"type": "string", "format": "color"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _is_color(view, schema, path):
    return schema.get("format") == "color"


def _own(rank: float, predicate: Any, factory: Any) -> Registry:
    own = fields.registry.copy()
    own.add(rank, predicate, factory)
    return own


class TestRules:
    def test_a_widget_of_the_user_becomes_the_field(self):
        """Any ipywidget with a value: it has its name, its states and its error."""
        own = _own(100, _is_color, lambda slot: w.ColorPicker(value="black"))
        form = SchemaForm({**_object(c=_COLOR), "required": ["c"]}, registry=own)
        picker = named(form.widget, "c", w.ColorPicker)
        assert form.value == {}
        receive(picker, value="red")
        assert form.value == {"c": "red"}
        form.value = {"c": "#ff0000"}
        assert picker.value == "#ff0000"

    def test_what_the_widget_refuses_is_shown_as_json(self):
        """The law holds for editors we never saw: no value is lost or changed."""
        own = _own(100, _is_color, lambda slot: w.ColorPicker())
        form = SchemaForm(_object(c=_COLOR), registry=own)
        form.value = {"c": "no colour"}
        assert form.value == {"c": "no colour"}
        assert type(named(form.widget, "c")) is w.Textarea
        form.value = {"c": "blue"}
        assert only(form.widget, w.ColorPicker).value == "blue"

    def test_a_widget_that_changes_what_it_is_given_is_not_believed(self):
        """A slider would clamp 9 to 5: the value is 9."""
        own = _own(100, lambda v, s, p: p == ("n",), lambda slot: w.IntSlider(max=5))
        form = SchemaForm(_object(n={"type": "integer"}), {"n": 9}, registry=own)
        assert form.value == {"n": 9}

    def test_an_editor_of_the_user_joins_in(self):
        """An `Editor` decides everything itself."""

        class Loud(Editor):
            def __init__(self, slot):
                super().__init__(slot)
                self._value = UNSET

            def read(self):
                return self._value

            def write(self, value):
                self._value = value
                return True

            def clear(self):
                self._value = UNSET

            def build(self):
                box = self.make(w.Text, description="LOUD")
                self.hear(box, "value", lambda: self.write(box.value.upper()))
                return box

        own = _own(100, _is_color, Loud)
        form = SchemaForm(_object(c=_COLOR), registry=own)
        type_into(named(form.widget, "LOUD"), "red")
        assert form.value == {"c": "RED"}

    def test_the_highest_rank_wins_and_then_the_newest(self):
        """As with JSON Forms' testers; no rule has to know the others."""
        own = _own(100, _is_color, lambda slot: w.Text(value="first", description="one"))
        own.add(100, _is_color, lambda slot: w.Text(description="two"))
        own.add(99, _is_color, lambda slot: w.Text(description="three"))
        form = SchemaForm(_object(c=_COLOR), registry=own)
        assert named(form.widget, "two")

    def test_a_predicate_sees_the_simplified_schema_and_the_path(self):
        """References are followed, `null` is folded in, and the place is known."""
        nodes = []

        def look(view, schema, path):
            nodes.append((path, schema.get("type")))
            return False

        own = _own(100, look, w.Text)
        schema = {
            **_object(a={"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}),
            "$defs": {"N": {"type": "integer"}},
        }
        SchemaForm(schema, registry=own).widget  # noqa: B018
        assert (("a",), "integer") in nodes

    def test_the_default_registry_is_left_alone_by_a_copy(self):
        """Rules for one form stay with it; those added to the default can be taken out."""
        _own(100, _is_color, w.ColorPicker)
        form = SchemaForm(_object(c=_COLOR))
        assert type(named(form.widget, "c")) is w.Text

        def picker(slot):
            return w.ColorPicker()

        fields.registry.add(100, _is_color, picker)
        try:
            assert only(SchemaForm(_object(c=_COLOR)).widget, w.ColorPicker)
        finally:
            fields.registry.remove(picker)
        assert type(named(SchemaForm(_object(c=_COLOR)).widget, "c")) is w.Text

    def test_a_factory_that_makes_no_editor_is_a_notice(self):
        """The field is there all the same."""
        own = _own(100, _is_color, lambda slot: w.HBox())
        form = SchemaForm(_object(c=_COLOR), registry=own)
        assert "needs a widget with a value" in page(form.widget)

    def test_widgets_of_the_user_are_closed_with_the_form(self, wire):
        """With their own layout and style."""
        own = _own(100, _is_color, lambda slot: w.ColorPicker())
        form = SchemaForm(_object(c=_COLOR), registry=own)
        form.widget  # noqa: B018
        form.close()
        assert wire.live == set()

    def test_a_shared_layout_and_style_outlive_a_form(self, wire):
        """The user's code keeps them for other fields: a form closes only what is its own."""
        layout, style = w.Layout(width="60%"), w.SliderStyle(handle_color="navy")
        own = _own(100, _is_color, lambda slot: w.IntSlider(layout=layout, style=style))
        form = SchemaForm(_object(c=_COLOR), registry=own)
        form.widget  # noqa: B018
        form.close()
        assert wire.live == {layout.model_id, style.model_id}


class TestPerField:
    def test_a_pydantic_field_says_how_it_is_edited(self):
        """`json_schema_extra={"toolbench": ...}`: widget, placeholder, help, order, hidden."""

        class Model(BaseModel):
            last: str = ""
            first: str = Field("", json_schema_extra={"toolbench": {"order": -1}})
            note: str = Field("", json_schema_extra={"toolbench": {"widget": "textarea"}})
            last_one: str = Field(
                "",
                description="not this",
                json_schema_extra={"toolbench": {"placeholder": "say it", "help": "but this"}},
            )
            hidden_one: str = Field("x", json_schema_extra={"toolbench": {"hidden": True}})

        form = SchemaForm(Model.model_json_schema())
        boxes = [x for x in walk(form.widget) if isinstance(x, w.Text | w.Textarea)]
        assert [box.description for box in boxes] == [
            "first",
            "last",
            "note",
            "last_one",
        ]
        assert type(boxes[2]) is w.Textarea
        assert boxes[3].placeholder == "say it"
        assert "but this" in page(form.widget)
        assert "not this" not in page(form.widget)

    def test_a_hidden_field_keeps_its_value(self):
        """Not shown, not lost."""
        form = SchemaForm(_object(a={"type": "string", "toolbench": {"hidden": True}}))
        form.value = {"a": "kept"}
        assert not [x for x in walk(form.widget) if getattr(x, "description", "") == "a"]
        assert form.value == {"a": "kept"}

    @pytest.mark.parametrize(
        ("name", "schema", "kind", "value"),
        [
            ("checkbox", {"type": "boolean"}, w.Checkbox, True),
            ("combobox", {"type": "string", "examples": ["x"]}, w.Combobox, "y"),
            ("date", {"type": "string"}, w.Text, "2026-11-21"),
            ("dropdown", {"enum": list(range(60))}, w.Dropdown, 3),
            (
                "items",
                {"type": "array", "items": {"type": "string"}},
                w.Textarea,
                ["a"],
            ),
            ("json", {"type": "string"}, w.Textarea, "x"),
            ("password", {"type": "string"}, w.Password, "s"),
            ("search", {"enum": ["a"]}, w.Combobox, "a"),
            ("text", {"type": "string", "maxLength": 999}, w.Text, "x"),
            ("textarea", {"type": "string"}, w.Textarea, "x"),
        ],
    )
    def test_editors_go_by_names(self, name, schema, kind, value):
        """Each built-in editor can be asked for."""
        form = SchemaForm(_object(x={**schema, "toolbench": {"widget": name}}))
        assert named(form.widget, "x", kind)
        form.value = {"x": value}
        assert form.value == {"x": value}

    def test_an_editor_that_does_not_fit_the_schema_gives_way(self):
        """Asking for a list of choices where there are none is a notice, not an error."""
        form = SchemaForm(_object(x={"type": "string", "toolbench": {"widget": "dropdown"}}))
        assert "has an editor that failed" in page(form.widget)
        form.value = {"x": "v"}
        assert form.value == {"x": "v"}
