"""The JSON text of a form: a second view of its value, and a draft while it is typed."""

import json
from typing import Any

import ipywidgets as w
import pytest

from test_widgets.front import named, only, page, receive, type_into
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.kit.parts import INVALID


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


class TestJsonText:
    def test_the_text_follows_the_fields(self):
        """Two views of one value."""
        form = SchemaForm(_object(a={"type": "string"}))
        area = named(form.json_widget, "Arguments as JSON")
        type_into(named(form.widget, "a"), "x")
        assert area.value == '{\n  "a": "x"\n}' == form.json

    def test_the_fields_follow_the_text(self):
        """Paste an object, and the form shows it."""
        form = SchemaForm(_object(a={"type": "string"}, n={"type": "integer"}))
        area = named(form.json_widget, "Arguments as JSON")
        receive(area, value='{"n": 1.0, "a": "b"}')
        assert named(form.widget, "a").value == "b"
        assert named(form.widget, "n").value == "1.0"
        # As typed
        assert form.json == '{"n": 1.0, "a": "b"}'

    def test_it_says_what_fields_cannot(self):
        """Null, an empty text or list, and keys that nobody declared; and it takes them back."""
        texts = {"type": "array", "items": {"type": "string"}}
        form = SchemaForm(_object(q={"type": ["string", "null"]}, tags=texts))
        area = named(form.json_widget, "Arguments as JSON")
        for value in ({"q": None, "tags": []}, {"q": ""}, {"zz": True}, {}):
            receive(area, value=json.dumps(value))
            assert form.value == value

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ('{"a": ', "Not JSON yet"),
            ("[1]", "The arguments must be an object"),
            ('{"a": 1, "a": 2}', "is there twice"),
            ('{"a": NaN}', "NaN is not JSON"),
        ],
    )
    def test_text_that_cannot_be_read_stays_and_blocks(self, text, sentence):
        """One sentence says what is wrong; the value is the last that could be read."""
        form = SchemaForm(_object(a={"type": "string"}), {"a": "x"})
        area = named(form.json_widget, "Arguments as JSON")
        receive(area, value=text)
        assert area.value == form.json == text
        assert form.blocked
        assert sentence in form.errors[0][1]
        assert sentence in page(form.json_widget)
        assert INVALID in area._dom_classes
        assert form.value == {"a": "x"}
        receive(area, value='{"a": "y"}')
        assert not form.blocked
        assert INVALID not in area._dom_classes
        assert form.value == {"a": "y"}

    def test_an_edit_of_a_field_replaces_the_draft(self):
        """The last edit wins, and nothing blocks that cannot be seen."""
        form = SchemaForm(_object(a={"type": "string"}))
        form.json = "{"
        assert form.blocked
        type_into(named(form.widget, "a"), "x")
        assert not form.blocked
        assert form.json == '{\n  "a": "x"\n}'

    def test_a_free_field_is_json_of_its_own(self):
        """Anything goes in it, even null; half a value blocks."""
        form = SchemaForm(_object(x={}))
        area = named(form.widget, "x")
        type_into(area, "null")
        assert form.value == {"x": None}
        type_into(area, "{")
        assert form.blocked
        receive(area, value="  ")
        assert form.value == {}
        assert not form.blocked

    def test_it_is_built_on_first_use(self, wire):
        """A form whose JSON nobody looks at does not pay for it."""
        form = SchemaForm(_object(a={"type": "string"}))
        form.widget  # noqa: B018
        before = wire.opened()
        assert form.json == "{}"
        assert wire.opened() == before
        form.json_widget  # noqa: B018
        assert wire.opened() > before
        form.close()
        assert wire.live == set()

    def test_what_is_wrong_with_the_value_stands_under_the_text(self):
        """While it is typed; a value set from elsewhere starts calm."""
        form = SchemaForm(_object(n={"type": "integer", "maximum": 3}))
        area = named(form.json_widget, "Arguments as JSON")
        receive(area, value='{"n": 5}')
        assert "n: should be at most 3" in page(form.json_widget)
        form.value = {"n": 6}
        assert "at most" not in page(form.json_widget)

    def test_arguments_that_are_no_object_block(self):
        """However they came to be: there is nothing a tool could be called with."""
        form = SchemaForm({"type": "array", "items": {"type": "integer"}})
        assert form.value == {}
        form.value = {"a": 1}
        assert form.value == {"a": 1}
        type_into(only(form.widget, w.Textarea), "[1]")
        assert form.value == {}
        assert form.blocked
        assert ((), "the arguments must be an object: { … }") in form.errors

    def test_other_keys_that_are_no_object_block(self):
        """They are JSON if one of them has a line break."""
        form = SchemaForm(_object(a={}), {"b\nc": 1})
        area = named(form.widget, "other keys")
        receive(area, value="[1]")
        assert form.errors == [((), "The other keys must be an object: { … }.")] and form.blocked
        receive(area, value='{"d": 2}')
        assert (form.value, form.blocked) == ({"d": 2}, False)


def test_a_form_shows_itself_as_its_fields():
    """As the last expression of a cell; in words, it says how many there are, not what."""
    form = SchemaForm(_object(a={"type": "string"}, b={}), {"a": "hidden words"})
    bundle = form._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "<SchemaForm of 2 fields>"
    assert "hidden words" not in repr(bundle)


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), 10**4300], ids=["nan", "inf", "long"]
)
def test_a_value_json_cannot_write_is_kept(number):
    """The form holds it; its text says only that there is something, and sends nothing else."""
    form = SchemaForm({"type": "object", "properties": {"a": {"type": "number"}}})
    area = only(form.json_widget, w.Textarea)
    form.value = {"a": number}
    assert form.value["a"] is number
    assert form.json == area.value == "…"
    form.json = form.json
    assert form.blocked


CHOICE = _object(status={"enum": ["waiting", "done"]}, price={"type": "number"})
NO_FIELD = "the field cannot show this value"


class TestValuesThatNoFieldShows:
    def test_the_field_is_back_with_the_text_that_leaves_the_value_out(self):
        """A mistake in the JSON text, once mended, leaves no trace in the form."""
        form = SchemaForm(CHOICE)
        before = page(form.widget)
        area = named(form.json_widget, "Arguments as JSON")
        receive(area, value='{"status": ["Done"], "price": {"eur": "12,50"}}')
        assert page(form.widget).count(NO_FIELD) == 2
        receive(area, value="{}")
        assert page(form.widget) == before

    def test_emptied_text_gives_the_field_back(self):
        """As the line below the text says; the cursor is in the field then."""
        form = SchemaForm(CHOICE, {"price": ["12,50"]})
        receive(named(form.widget, "price"), value="")
        assert form.value == {}
        type_into(named(form.widget, "price"), "12.5")
        assert form.value == {"price": 12.5}
        assert NO_FIELD not in page(form.widget)
        # As in a form where nothing was typed
        schema = {**_object(o=_object(a={"type": "string"})), "required": ["o"]}
        form = SchemaForm(schema, {"o": 5})
        receive(named(form.widget, "o"), value="")
        assert form.value == SchemaForm(schema).value == {"o": {}}
