"""A secret is sent, and never seen: not in a repr, a JSON text, a page or a saved notebook."""

import json
from typing import Any, ClassVar

import ipywidgets as w
import pytest

from test_widgets.front import named, page, receive, type_into, walk
from toolbench.widgets.form import SchemaForm

_SECRET = "hunter2-the-secret"
_PASSWORD = {"type": "string", "format": "password"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_WITH_SECRETS = [
    pytest.param(_object(x=_PASSWORD), {"x": _SECRET}, id="format"),
    pytest.param(_object(x={"type": "string", "writeOnly": True}), {"x": _SECRET}, id="writeOnly"),
    pytest.param(_object(api_key={"type": "string"}), {"api_key": _SECRET}, id="name"),
    pytest.param(_object(o=_object(x=_PASSWORD)), {"o": {"x": _SECRET}}, id="nested"),
    pytest.param(
        _object(r={"type": "array", "items": _object(x=_PASSWORD)}),
        {"r": [{"x": _SECRET}]},
        id="rows",
    ),
    pytest.param(_object(r={"type": "array", "items": _PASSWORD}), {"r": [_SECRET]}, id="list"),
    pytest.param(_object(m={"additionalProperties": _PASSWORD}), {"m": {"k": _SECRET}}, id="map"),
    pytest.param(
        _object(u={"anyOf": [_object(x=_PASSWORD), {"type": "integer"}]}),
        {"u": {"x": _SECRET}},
        id="union",
    ),
    pytest.param(_object(o={}), {"o": {"password": _SECRET}}, id="free JSON"),
    pytest.param(_object(), {"token": _SECRET}, id="undeclared"),
    pytest.param(_object(x=_PASSWORD), {"x": f"{_SECRET}\nin two lines"}, id="lines"),
    pytest.param(_object(x=_PASSWORD), {"x": {"y": _SECRET}}, id="of another type"),
    pytest.param(
        _object(x={"type": ["string", "integer"], "writeOnly": True}),
        {"x": _SECRET},
        id="writeOnly union",
    ),
    pytest.param(
        _object(token={"type": ["string", "integer"]}),
        {"token": _SECRET},
        id="named union",
    ),
    pytest.param(
        _object(x={**_PASSWORD, "enum": ["a"], "maxLength": 3, "pattern": "^b"}),
        {"x": _SECRET},
        id="wrong",
    ),
    pytest.param(_object(x={**_PASSWORD, "enum": ["a"]}), {"x": _SECRET * 9}, id="long and wrong"),
]


class TestNothingShows:
    @pytest.mark.every_case
    @pytest.mark.parametrize(("schema", "value"), _WITH_SECRETS)
    def test_no_message_to_the_page_holds_it(self, schema, value, wire):
        """Whatever is set, opened, marked or typed: the wire never carries the secret."""
        form = SchemaForm(schema, value)
        form.widget  # noqa: B018
        form.json_widget  # noqa: B018
        form.reveal_errors()
        assert form.value == value
        assert form.json_widget is not None
        assert _SECRET not in wire.text()
        assert _SECRET not in json.dumps(w.Widget.get_manager_state(), default=str)

    @pytest.mark.every_case
    @pytest.mark.parametrize(("schema", "value"), _WITH_SECRETS)
    def test_no_text_of_the_form_holds_it(self, schema, value):
        """Neither repr, JSON text, masked value, page, nor an error about it."""
        form = SchemaForm(schema, value)
        texts = (repr(form), repr(form.widget), repr(form.json_widget), form.json)
        assert _SECRET not in "".join(texts) + page(form.widget) + repr(form.masked)
        assert "<secret-hidden>" in form.json
        assert form.secrets
        assert all(secret.startswith(_SECRET) for secret in form.secrets)

    @pytest.mark.every_case
    @pytest.mark.parametrize(("schema", "value"), _WITH_SECRETS)
    def test_the_json_text_keeps_it_without_knowing_it(self, schema, value):
        """Typing around the dots leaves the secret as it is."""
        form = SchemaForm(schema, value)
        form.json = form.json + " "
        assert form.value == value


_AS_JSON = [
    pytest.param({"type": "array", "items": _PASSWORD}, [_SECRET], id="list"),
    pytest.param({"type": "array", "items": _object(x=_PASSWORD)}, [{"x": _SECRET}], id="rows"),
    pytest.param({"type": "array", "prefixItems": [_PASSWORD, {}]}, [_SECRET, 1], id="tuple"),
    pytest.param({"additionalProperties": _PASSWORD}, {"k": _SECRET}, id="map"),
    pytest.param({"patternProperties": {"^k": _PASSWORD}}, {"k": _SECRET}, id="pattern"),
    pytest.param(
        _object(x={"anyOf": [_PASSWORD, {"type": "null"}]}),
        {"x": _SECRET},
        id="or null",
    ),
    pytest.param(
        {"anyOf": [_object(x=_PASSWORD), {"type": "integer"}]},
        {"x": _SECRET},
        id="union",
    ),
    pytest.param(_object(x={"$ref": "#/$defs/P"}), {"x": _SECRET}, id="reference"),
    pytest.param(_object(x={"allOf": [_PASSWORD, {"minLength": 2}]}), {"x": _SECRET}, id="allOf"),
]
_UNFITTING = [
    pytest.param({"type": "array", "items": _PASSWORD}, _SECRET, id="no list"),
    pytest.param({"type": "array", "items": _object(x=_PASSWORD)}, {"x": _SECRET}, id="one row"),
    pytest.param(_object(x=_PASSWORD), [{"x": _SECRET}], id="no object"),
    pytest.param(
        {"anyOf": [_object(x=_PASSWORD), {"type": "integer"}]},
        [_SECRET],
        id="no branch",
    ),
    pytest.param({"type": "array", "prefixItems": [_PASSWORD]}, ["a", _SECRET], id="one too many"),
]


class TestAsJson:
    @pytest.mark.every_case
    @pytest.mark.parametrize(("schema", "value"), _AS_JSON)
    def test_a_field_as_json_hides_what_the_schema_calls_secret(self, schema, value, wire):
        """However deep it stands, and through references, unions, lists and maps."""
        as_json = {**schema, "toolbench": {"widget": "json"}}
        whole = {**_object(o=as_json), "$defs": {"P": _PASSWORD}}
        form = SchemaForm(whole, {"o": value})
        assert "<secret-hidden>" in named(form.widget, "o", w.Textarea).value
        self._keeps_it(form, value, wire)

    @pytest.mark.parametrize(("schema", "value"), _UNFITTING)
    def test_what_fits_no_secret_place_is_hidden_whole(self, schema, value, wire):
        """A value of another kind is shown as JSON: nobody can tell where its secret is."""
        form = SchemaForm(_object(o=schema), {"o": value})
        self._keeps_it(form, value, wire)

    @staticmethod
    def _keeps_it(form: SchemaForm, value: Any, wire: Any) -> None:
        assert form.json_widget is not None
        assert form.widget is not None
        assert _SECRET not in wire.text() + form.json + repr(form.masked)
        assert _SECRET in form.secrets
        form.json = form.json + " "
        assert form.value == {"o": value}


class TestKeysOfMaps:
    _MAP: ClassVar[dict[str, Any]] = {"additionalProperties": {"type": "string"}}

    @pytest.mark.parametrize("schema", [_MAP, {"toolbench": {"widget": "map"}}])
    def test_a_key_that_becomes_a_secrets_hides_its_value(self, schema):
        """Whatever was typed first, the value or the key."""
        form = SchemaForm(_object(h={"type": "object", **schema}), {"h": {"": _SECRET}})
        key, value = named(form.widget, "key"), named(form.widget, "value")
        type_into(key, "password")
        assert form.value == {"h": {"password": _SECRET}}
        state = json.dumps(w.Widget.get_manager_state(), default=str)
        assert _SECRET not in state + form.json + repr(form.masked)
        assert value.comm is None

    def test_a_key_that_is_no_secrets_any_more_shows_nothing(self):
        """What was hidden stays hidden, but an empty value has nothing to hide."""
        form = SchemaForm(_object(h={"type": "object", **self._MAP}), {"h": {"": ""}})
        key = named(form.widget, "key")
        type_into(key, "tokenizer")
        assert type(named(form.widget, "value")) is w.Text
        type_into(key, "token")
        receive(named(form.widget, "value"), value=_SECRET)
        type_into(key, "tokenizer")
        assert form.value == {"h": {"tokenizer": _SECRET}}
        assert _SECRET not in form.json


class TestTyping:
    def test_the_box_is_emptied_when_the_secret_has_arrived(self):
        """So no front end can save it with the notebook."""
        form = SchemaForm(_object(x=_PASSWORD))
        box = named(form.widget, "x")
        assert type(box) is w.Password
        receive(box, value=_SECRET)
        assert box.value == ""
        assert box.placeholder == "<secret-hidden> (type to replace it)"
        assert form.value == {"x": _SECRET}
        receive(box, value="another")
        assert form.value == {"x": "another"}

    def test_it_waits_for_the_whole_text(self):
        """A box that empties itself at every key could not be typed into."""
        assert not named(SchemaForm(_object(x=_PASSWORD)).widget, "x").continuous_update

    def test_typing_the_dots_is_a_value_where_there_is_no_secret(self):
        """Dots stand for a secret only where one was."""
        form = SchemaForm(_object(x={"type": "string"}))
        form.json = '{"x": "<secret-hidden>"}'
        assert form.value == {"x": "<secret-hidden>"}

    def test_a_default_that_is_secret_is_no_ghost(self):
        """The schema may hold one; the page does not."""
        form = SchemaForm(_object(x={**_PASSWORD, "default": _SECRET}))
        placeholders = [getattr(widget, "placeholder", "") for widget in walk(form.widget)]
        assert _SECRET not in "".join(placeholders) + page(form.widget)


class TestNumbers:
    def test_a_secret_number_is_typed_and_kept_like_any_secret(self, wire):
        """A PIN is a number, and a secret; a mistyped one is not quoted either."""
        form = SchemaForm(_object(pin={"type": "integer", "format": "password"}))
        box = named(form.widget, "pin", w.Password)
        assert form.json_widget
        receive(box, value="9876543210123")
        assert form.value == {"pin": 9876543210123}
        assert "9876543210123" not in repr(wire.updates())
        assert "9876543210123" not in form.json
        receive(box, value="9876543210123x")
        assert form.errors == [(("pin",), "This is not a number.")]
        assert form.blocked
