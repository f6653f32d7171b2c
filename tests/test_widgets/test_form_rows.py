"""Lists, maps and unions in the browser: lines come and go, and the cursor with them."""

from typing import Any, ClassVar

import ipywidgets as w

from test_widgets.front import (
    click,
    labels,
    named,
    page,
    pick,
    press,
    receive,
    type_into,
    walk,
)
from toolbench.widgets.form import SchemaForm


def _form(value: dict[str, Any] | None = None, /, **properties: Any) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": properties}, value)


def _buttons(form: SchemaForm) -> list[str]:
    return [x.description for x in walk(form.widget) if isinstance(x, w.Button)]


class TestRows:
    _SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        },
    }

    def test_rows_are_added_moved_and_removed(self):
        """The list follows; the button to remove is the same one on every line."""
        form = _form({"r": [{"n": 1}, {"n": 2}]}, r=self._SCHEMA)
        form.widget  # noqa: B018
        click(named(form.widget, "Add to r"))
        boxes = [x for x in walk(form.widget) if getattr(x, "description", "") == "n"]
        type_into(boxes[2], "3")
        assert form.value == {"r": [{"n": 1}, {"n": 2}, {"n": 3}]}
        bars = [x for x in walk(form.widget) if isinstance(x, w.ToggleButtons)]
        press(bars[2], "Move up")
        assert form.value == {"r": [{"n": 1}, {"n": 3}, {"n": 2}]}
        press(bars[0], "Remove")
        assert form.value == {"r": [{"n": 3}, {"n": 2}]}
        press(bars[2], "Move down")
        assert form.value == {"r": [{"n": 2}, {"n": 3}]}

    def test_a_button_can_be_pressed_again(self):
        """Pressing is not choosing: no button stays down."""
        form = _form({"r": [{"n": 1}, {"n": 2}, {"n": 3}]}, r=self._SCHEMA)
        bars = [x for x in walk(form.widget) if isinstance(x, w.ToggleButtons)]
        for _ in range(2):
            press(bars[0], "Move down")
            assert bars[0].index is None
        assert [row["n"] for row in form.value["r"]] == [2, 3, 1]

    def test_an_optional_list_begins_with_its_button(self):
        """Not sent, empty, null and filled are four things; a button takes back what is empty."""
        form = _form(r={"anyOf": [self._SCHEMA, {"type": "null"}]})
        form.widget  # noqa: B018
        assert form.value == {}
        for _ in range(2):
            click(named(form.widget, "Add to r"))
            assert form.value == {"r": [{}]}
            press(next(x for x in walk(form.widget) if isinstance(x, w.ToggleButtons)), "Remove")
            assert form.value == {"r": []} and "An empty list is sent." in page(form.widget)
            click(named(form.widget, "Do not send it"))
            assert form.value == {} and "Do not send it" not in _buttons(form)
        for given in ({"r": None}, {"r": [{"n": 1}]}, {"r": []}):
            form.value = given
            assert form.value == given
        form = _form({"r": None}, r={"anyOf": [self._SCHEMA, {"type": "null"}]})
        assert "Null is sent." in page(form.widget)
        click(named(form.widget, "Do not send it"))
        assert form.value == {}

    def test_what_is_changed_begins_with_the_default(self):
        """It is shown and not sent until it is changed: of a list, a tuple and an object."""
        pair = {"type": "array", "prefixItems": [{"type": "integer"}] * 2, "default": [1, 2]}
        group = {"type": "object", "properties": {"n": {"type": "integer"}}, "default": {"n": 3}}
        form = _form(r={**self._SCHEMA, "default": [{"n": 4}]}, pair=pair, group=group)
        shown = page(form.widget)
        for text in ("[{&quot;n&quot;: 4}]", "[1, 2]", "{&quot;n&quot;: 3}"):
            assert f"Default: {text}." in shown
        assert form.value == {}
        for name, value in (("pair", [1, 2]), ("group", {"n": 3})):
            switch = named(form.widget, name, w.RadioButtons)
            assert labels(switch) == ["default", "a value"]
            pick(switch, "a value")
            assert form.value == {name: value}
            pick(switch, "default")
            assert form.value == {}
        click(named(form.widget, "Add to r"))
        assert form.value == {"r": [{"n": 4}, {}]}

    def test_a_missing_list_asks_for_an_item(self):
        """A list of groups has nothing to type into: its button adds the first."""
        properties = {"r": self._SCHEMA}
        form = SchemaForm({"type": "object", "properties": properties, "required": ["r"]})
        form.widget  # noqa: B018
        form.reveal_errors()
        assert "Add at least one." in page(form.widget)
        assert "Enter a value" not in page(form.widget)

    def test_an_item_without_a_value_blocks(self):
        """A hole in a list cannot be sent, and is never left out in silence."""
        form = _form(
            r={
                "type": "array",
                "items": {"anyOf": [{"type": "integer"}, {"type": "array"}]},
            }
        )
        click(named(form.widget, "Add to r"))
        assert form.errors == [(("r", 0), "has no value yet")]
        assert form.blocked

    def test_the_rest_of_the_form_stays_while_a_row_is_added(self):
        """Fields outside the list keep their widgets, and so the cursor."""
        form = _form(a={"type": "string"}, r=self._SCHEMA, z={"type": "string"})
        before = named(form.widget, "a"), named(form.widget, "z")
        click(named(form.widget, "Add to r"))
        assert (named(form.widget, "a"), named(form.widget, "z")) == before


class TestTheCursor:
    """Only where a person asked for a change of the page does it move the cursor."""

    @staticmethod
    def _focused(wire: Any) -> list[str]:
        return [
            comm_id
            for comm_id, kind, data in wire.messages
            if kind == "comm_msg" and data.get("content") == {"do": "focus"}
        ]

    def test_it_goes_into_a_new_row(self, wire):
        """To the first thing to type there: the key of a map, the first field of an item."""
        item = {"type": "object", "properties": {"n": {"type": "integer"}}}
        form = _form(
            {"r": [], "m": {}},
            r={"type": "array", "items": item},
            m={"additionalProperties": {"type": "string"}},
        )
        click(named(form.widget, "Add to r"))
        assert self._focused(wire) == [named(form.widget, "n").model_id]
        click(named(form.widget, "Add to m"))
        assert self._focused(wire)[1:] == [named(form.widget, "key").model_id]

    def test_it_goes_to_the_add_button_when_a_row_is_gone(self, wire):
        """The button that was pressed is gone with its row."""
        form = _form({"m": {"a": "x"}}, m={"additionalProperties": {"type": "string"}})
        click(named(form.widget, "Remove"))
        assert self._focused(wire) == [named(form.widget, "Add to m").model_id]

    def test_it_goes_along_with_a_row_that_is_moved(self, wire):
        """The page draws the moved lines anew: without this the cursor would be gone."""
        item = {"type": "object", "properties": {"n": {"type": "integer"}}}
        form = _form({"r": [{"n": 1}, {"n": 2}]}, r={"type": "array", "items": item})
        bars = [x for x in walk(form.widget) if isinstance(x, w.ToggleButtons)]
        boxes = [x for x in walk(form.widget) if getattr(x, "description", "") == "n"]
        press(bars[1], "Move up")
        press(bars[1], "Move down")
        assert self._focused(wire) == [boxes[1].model_id] * 2

    def test_it_goes_into_a_field_that_was_searched(self, wire):
        """One asks for a field in order to fill it in."""
        form = _form(**{f"f{i}": {"type": "string"} for i in range(30)})
        receive(named(form.widget, "Add a field"), value="f20")
        assert self._focused(wire) == [named(form.widget, "f20").model_id]

    def test_it_stays_where_it_is_otherwise(self, wire):
        """Typing, errors and new values move nothing."""
        form = _form(n={"type": "integer"}, b={"type": "boolean"})
        type_into(named(form.widget, "n"), "1x")
        pick(named(form.widget, "b"), "yes")
        form.reveal_errors()
        form.value = {"n": 2}
        assert self._focused(wire) == []


class TestMaps:
    def test_keys_are_typed(self):
        """A row is a key and a value; both can be changed."""
        form = _form({"m": {"a": 1}}, m={"additionalProperties": {"type": "integer"}})
        type_into(named(form.widget, "key"), "bee")
        type_into(named(form.widget, "value"), "2")
        assert form.value == {"m": {"bee": 2}}
        click(named(form.widget, "Remove"))
        assert form.value == {"m": {}}

    def test_one_key_twice_blocks(self):
        """Two values for one key are one too many."""
        form = _form({"m": {"a": 1, "b": 2}}, m={"additionalProperties": {"type": "integer"}})
        keys = [x for x in walk(form.widget) if getattr(x, "description", "") == "key"]
        receive(keys[1], value="a")
        assert form.errors == [(("m",), "The key a is there twice.")]
        assert form.blocked
        receive(keys[1], value="c")
        assert form.value == {"m": {"a": 1, "c": 2}}
        assert not form.blocked
        # A declared key has a field of its own
        form = _form({"a": "x", "b": "y"}, a={"type": "string"})
        type_into(named(form.widget, "key"), "a")
        assert form.errors == [((), "The key a is there twice.")] and form.blocked

    def test_a_key_decides_the_type_of_its_value(self):
        """`patternProperties`: the value is carried over, the key box stays."""
        schema = {
            "type": "object",
            "patternProperties": {"^n": {"type": "integer"}, "^s": {"type": "string"}},
        }
        form = _form({"m": {"n": 5}}, m=schema)
        key = named(form.widget, "key")
        receive(key, value="s")
        assert named(form.widget, "key") is key
        assert form.value == {"m": {"s": 5}}
        assert "should be a string" in form.errors[0][1]

    def test_known_keys_are_suggested(self):
        """`propertyNames` with an enum fills in the keys that are left."""
        schema = {
            "propertyNames": {"enum": ["x", "y"]},
            "additionalProperties": {"type": "integer"},
        }
        form = _form({"m": {}}, m=schema)
        click(named(form.widget, "Add to m"))
        click(named(form.widget, "Add to m"))
        keys = [x for x in walk(form.widget) if isinstance(x, w.Combobox)]
        assert [key.value for key in keys] == ["x", "y"]
        assert keys[0].options == ("x", "y")

    def test_undeclared_keys_have_their_row(self):
        """What the schema does not know survives, and can be edited."""
        form = _form({"b": 1, "a": "v"}, a={"type": "string"})
        assert named(form.widget, "key").value == "b"
        type_into(named(form.widget, "value"), "[2]")
        assert form.value == {"b": [2], "a": "v"}


class TestUnions:
    _CAT: ClassVar[dict[str, Any]] = {
        "title": "Cat",
        "type": "object",
        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
        "required": ["kind"],
    }
    _DOG: ClassVar[dict[str, Any]] = {
        "title": "Dog",
        "type": "object",
        "properties": {"kind": {"const": "dog"}, "name": {"type": "string"}},
        "required": ["kind", "name"],
    }

    def test_a_branch_is_chosen_and_filled_in(self):
        """Its constants are there at once."""
        form = _form(pet={"oneOf": [self._CAT, self._DOG]})
        pick(named(form.widget, "pet"), "Dog")
        assert form.value == {"pet": {"kind": "dog"}}
        type_into(named(form.widget, "name"), "Rex")
        assert form.value == {"pet": {"kind": "dog", "name": "Rex"}}

    def test_the_tab_says_what_a_tag_says(self):
        """The property that tells the alternatives apart is sent, and not shown again."""
        form = _form(pet={"oneOf": [self._CAT, self._DOG]})
        pick(named(form.widget, "pet", w.RadioButtons), "Dog")
        assert form.value == {"pet": {"kind": "dog"}}
        assert "kind" not in page(form.widget)

    def test_a_tag_that_does_not_fit_is_shown(self):
        """What the tab does not say stays a field of its own."""
        form = _form(pet={"oneOf": [self._CAT, self._DOG]})
        form.value = {"pet": {"kind": "fish", "lives": 1}}
        form.widget  # noqa: B018
        form.reveal_errors()
        assert form.value == {"pet": {"kind": "fish", "lives": 1}}
        assert named(form.widget, "kind")

    def test_many_kinds_are_a_list(self):
        """Tabs are for as many kinds as fit beside each other."""
        form = _form(pet={"oneOf": [{"title": f"Kind {n}"} for n in range(9)]})
        assert named(form.widget, "pet", w.Dropdown)

    def test_a_required_kind_is_not_guessed(self):
        """Every tab is a kind; none is open until a person, or a value, opens one."""
        form = SchemaForm(
            {
                "type": "object",
                "properties": {"pet": {"oneOf": [self._CAT, self._DOG]}},
                "required": ["pet"],
            }
        )
        kinds = named(form.widget, "pet", w.RadioButtons)
        assert labels(kinds) == ["Cat", "Dog"] and kinds.index is None
        pick(kinds, "Dog")
        assert form.value == {"pet": {"kind": "dog"}}
        form.value = {}
        assert kinds.index is None and form.value == {}

    def test_a_declared_discriminator_is_sent_with_its_kind(self):
        """Pydantic asks for it even if it has a default; a person has chosen it by the tab."""
        card, transfer = (
            {
                "title": kind,
                "type": "object",
                "properties": {
                    "kind": {"const": kind, "default": kind},
                    "number": {"type": "string"},
                },
            }
            for kind in ("card", "transfer")
        )
        pay = {"oneOf": [card, transfer], "discriminator": {"propertyName": "kind"}}
        form = _form(pay=pay)
        pick(named(form.widget, "pay"), "card")
        assert form.value == {"pay": {"kind": "card"}}
        descriptions = [getattr(x, "description", "") for x in walk(form.widget)]
        # No second place for one choice
        assert "kind" not in descriptions
        form.value = {"pay": {"number": "4"}}
        # What others wrote stays
        assert form.value == {"pay": {"number": "4"}}

    def test_drafts_survive_a_change_of_mind(self):
        """Coming back to a branch, what was typed there is still there."""
        form = _form(pet={"oneOf": [self._CAT, self._DOG]})
        kinds = named(form.widget, "pet")
        pick(kinds, "Cat")
        type_into(named(form.widget, "lives"), "9")
        pick(kinds, "Dog")
        assert form.value == {"pet": {"kind": "dog"}}
        pick(kinds, "Cat")
        assert form.value == {"pet": {"kind": "cat", "lives": 9}}
        pick(kinds, "not sent")
        assert form.value == {}

    def test_a_value_chooses_its_branch(self):
        """By its discriminator first, and even where it is not valid."""
        form = _form(pet={"oneOf": [self._CAT, self._DOG]})
        form.value = {"pet": {"kind": "dog"}}
        assert named(form.widget, "pet").label == "Dog"
        form.value = {"pet": {"kind": "cat", "lives": 3}}
        assert named(form.widget, "pet").label == "Cat"

    def test_branches_without_a_title_have_names(self):
        """The discriminator, the definition, or the type: no "option 2"."""
        branches = [
            {"properties": {"op": {"const": "add"}}},
            {"$ref": "#/$defs/Move"},
            {"type": "array", "items": {"type": "string"}},
            {"type": "integer"},
        ]
        schema = {
            "type": "object",
            "properties": {"x": {"anyOf": branches}},
            "$defs": {"Move": {"type": "object", "properties": {"to": {}}}},
        }
        names = labels(named(SchemaForm(schema).widget, "x"))
        assert names == ["not sent", "add", "Move", "list of text", "integer"]

    def test_branches_are_built_when_chosen(self, wire):
        """What nobody looks at costs nothing."""
        form = _form(pet={"oneOf": [self._CAT] * 20})
        form.widget  # noqa: B018
        assert wire.opened() < 20
