"""Buttons for a few short values: what each of them sends, and how it is taken back."""

from typing import Any

import ipywidgets as w
import pytest

from test_widgets.front import named, page, pick
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.kit.parts import INVALID


def _form(*required: str, **properties: Any) -> SchemaForm:
    kinds = {"type": "object", "properties": properties, "required": list(required)}
    return SchemaForm(kinds)


def _labels(switch: w.RadioButtons) -> list[str]:
    return [label for label, _ in switch.options]


@pytest.mark.parametrize("name", ["deep", "unit"])
def test_a_required_value_is_not_guessed(name):
    """No button is pressed at first; the JSON takes back what was."""
    kinds = {"deep": {"type": "boolean"}, "unit": {"enum": ["yes", "no"]}}
    form = _form(name, **{name: kinds[name]})
    switch = named(form.widget, name, w.RadioButtons)
    assert _labels(switch) == ["yes", "no"]
    assert switch.index is None and form.value == {}
    pick(switch, "no")
    assert form.value == {name: False if name == "deep" else "no"}
    form.json = "{}"
    assert switch.index is None and form.value == {}


def test_an_optional_value_is_taken_back():
    """By the first button; or by the default, which is marked while nothing is sent, and stands once."""
    urgent = ["low", "normal", "high"]
    form = _form(
        deep={"type": "boolean"},
        unit={"enum": urgent, "default": "normal"},
        rarely={"enum": [f"kind {n}" for n in range(9)], "default": "kind 3"},
    )
    unit = named(form.widget, "unit", w.RadioButtons)
    assert _labels(unit) == ["low", "normal (default)", "high"]
    for name, nothing, label in (
        ("deep", "not sent", "yes"),
        ("unit", "normal (default)", "high"),
        ("rarely", "kind 3 (default)", "kind 5"),
    ):
        switch = named(form.widget, name)
        assert switch.label == nothing
        pick(switch, label)
        assert list(form.value) == [name]
        pick(switch, nothing)
        assert form.value == {}
    # Who writes the default sends it
    form.value = {"unit": "normal"}
    assert form.value == {"unit": "normal"} and unit.label == "normal (default)"


def test_a_value_that_is_no_choice_is_one_more():
    """As a model may have sent it: the field stays, with the error, until another value is chosen."""
    form = _form(unit={"enum": ["C", "F"], "default": "C"})
    switch = named(form.widget, "unit", w.RadioButtons)
    for wrong, label in ((3, "3"), ("K", "K"), (None, "null")):
        form.value = {"unit": wrong}
        assert form.value == {"unit": wrong}
        assert _labels(switch) == ["C (default)", "F", f"{label} (not a choice)"]
        form.reveal_errors()
        assert "Should be" in page(form.widget)
        pick(switch, "F")
        assert form.value == {"unit": "F"} and form.errors == []
    form.value = {}
    assert _labels(switch) == ["C (default)", "F"] and switch.label == "C (default)"


def test_a_list_and_its_buttons_say_the_same_of_no_value():
    """Whether a choice is short or long, what nothing means has the same words."""
    short, long = {"enum": ["a", "b"]}, {"enum": [f"kind {n}" for n in range(9)]}
    form = _form(short=short, long=long)
    for name in ("short", "long"):
        assert named(form.widget, name).label == "not sent"


def test_an_item_of_a_list_has_no_button_for_no_value():
    """An item that was added holds one of its values."""
    item = {"anyOf": [{"type": "integer"}, {"type": "array"}]}
    form = _form(r={"type": "array", "items": item})
    form.value = {"r": [4]}
    kinds = named(form.widget, "r, item 1", w.RadioButtons)
    assert _labels(kinds) == ["integer", "list"] and kinds.label == "integer"


def test_null_has_a_button_once_it_was_chosen():
    """Unset and null mean the same for most tools; a value of null is still shown and kept."""
    kinds = [{"enum": ["a", "b"]}, {"type": "null"}]
    form = _form(x={"anyOf": kinds, "default": None})
    switch = named(form.widget, "x", w.RadioButtons)
    labels = ["not sent", "a", "b"]
    assert _labels(switch) == labels
    form.value = {"x": None}
    assert form.value == {"x": None}
    assert _labels(switch) == [*labels, "null"] and switch.label == "null"
    pick(switch, "a")
    assert form.value == {"x": "a"}
    pick(switch, "null")
    assert form.value == {"x": None}


@pytest.mark.parametrize(
    ("values", "is_list"),
    [
        (["a", "b"], False),
        (["a", "b", "c", "d", "e", "f"], True),
        (["natural science", "philosophy and religion"], True),
        ([1, 2, 3], False),
    ],
)
def test_long_lists_stay_lists(values, is_list):
    """More than five values, or long ones, are a drop-down."""
    form = _form(x={"enum": values})
    kind = w.Dropdown if is_list else w.RadioButtons
    assert isinstance(named(form.widget, "x"), kind)


def test_no_value_is_labelled_as_nothing():
    """A value that has the words of the first button is quoted."""
    form = _form(x={"enum": ["not sent", "sent"]})
    switch = named(form.widget, "x", w.RadioButtons)
    assert _labels(switch) == ["not sent", '"not sent"', "sent"]
    pick(switch, '"not sent"')
    assert form.value == {"x": "not sent"}


def test_a_choice_before_a_field_is_asked_for():
    """A required value that may be null: first comes the choice, then the value."""
    form = _form("n", n={"type": ["integer", "null"]})
    switch = named(form.widget, "n", w.RadioButtons)
    form.reveal_errors()
    assert "Choose one." in page(form.widget) and INVALID in switch._dom_classes
    pick(switch, "null")
    assert "Choose one." not in page(form.widget) and INVALID not in switch._dom_classes


def test_an_empty_text_as_the_default_has_a_word():
    """Quotes without anything in them are no word."""
    form = _form(unit={"enum": ["", "C"], "default": ""})
    switch = named(form.widget, "unit", w.RadioButtons)
    assert _labels(switch) == ["empty (default)", "C"]
