"""Each error lands on its field, when it may be shown, and tells the truth in `errors`."""

from typing import Annotated, Any, ClassVar, Literal

import ipywidgets as w
import pytest
from pydantic import BaseModel, Field, ValidationError

from test_widgets.front import named, page, pick, type_into, walk
from toolbench import tool
from toolbench.errors import Problem
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.widgets.form import SchemaForm


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _marked(form: SchemaForm) -> set[str]:
    """The names of the fields that are marked as wrong."""
    return {
        widget.description for widget in walk(form.widget) if "tb-invalid" in widget._dom_classes
    }


class TestWhenErrorsShow:
    _SCHEMA: ClassVar[dict[str, Any]] = {
        **_object(a={"type": "string"}, b={"type": "integer"}),
        "required": ["a"],
    }

    def test_an_untouched_form_does_not_shout(self):
        """Something is missing, and `errors` knows; the page is calm."""
        form = SchemaForm(self._SCHEMA)
        assert "required" not in page(form.widget)
        assert form.errors == [(("a",), "is required")]

    def test_revealed_errors_stand_at_their_fields(self):
        """Run was pressed: every error shows, and is announced."""
        form = SchemaForm(self._SCHEMA)
        form.widget  # noqa: B018
        form.reveal_errors()
        assert "Enter a value." in page(form.widget)
        assert 'role="alert"' in page(form.widget)
        assert "Fix 1 field: a." in page(form.widget)
        assert _marked(form) == {"a"}

    def test_what_an_error_says_the_help_does_not_repeat(self):
        """A limit that is broken is told once; the help of the author stays."""
        number = {"type": "integer", "minimum": 1, "description": "How many."}
        form = SchemaForm(_object(n=number))
        assert "At least 1" in page(form.widget)
        type_into(named(form.widget, "n"), "0")
        assert "Should be at least 1" in page(form.widget)
        assert "At least 1" not in page(form.widget)
        assert "How many." in page(form.widget)
        type_into(named(form.widget, "n"), "1")
        assert "At least 1" in page(form.widget)

    def test_a_missing_group_is_its_missing_fields(self):
        """A person can give the fields of a group, not the group."""
        group = {**_object(a={}, b={}), "required": ["a"]}
        form = SchemaForm({**_object(g=group), "required": ["g"]})
        form.widget  # noqa: B018
        form.reveal_errors()
        assert [path for path, _ in form.errors] == [("g", "a")]
        assert [field.name for field in form.wrong_fields()] == ["g.a"]

    def test_a_field_inside_of_another_is_called_by_its_path(self):
        """Each task of a list has a title: which one is to be mended?"""
        task = {**_object(title={"type": "string"}), "required": ["title"]}
        form = SchemaForm(_object(tasks={"type": "array", "items": task}), {"tasks": [{}, {}]})
        form.widget  # noqa: B018
        form.reveal_errors()
        assert "Fix 2 fields: tasks[0].title, tasks[1].title." in page(form.widget)

    def test_the_alert_calls_a_value_by_its_key(self):
        """Beside its key a map's value is `value`; far from it that says nothing."""
        schema = {**_object(a={}), "additionalProperties": False}
        form = SchemaForm(schema, {"zz": 1})
        form.widget  # noqa: B018
        form.reveal_errors()
        assert "Fix 1 field: zz.<" in page(form.widget)

    def test_a_question_needs_no_full_stop(self):
        """The sentence of an error ends once."""
        form = SchemaForm(self._SCHEMA)
        form.widget  # noqa: B018
        messages = ["did you mean 'b'?", "is odd.", "is odd"]
        form.show_problems([Problem(("b",), text) for text in messages])
        assert ">Did you mean &#x27;b&#x27;?<" in page(form.widget)
        assert page(form.widget).count(">Is odd.<") == 2

    def test_errors_come_and_go_while_typing(self):
        """The field that is edited shows its own; others wait for their turn."""
        form = SchemaForm(self._SCHEMA)
        box = named(form.widget, "b")
        type_into(box, "1x")
        assert _marked(form) == {"b"}
        type_into(box, "1")
        assert _marked(form) == set()
        assert "tb-error" not in page(form.widget)

    def test_an_error_moves_no_field(self, wire):
        """Only texts and marks change: no input is made anew, so none loses the cursor."""
        form = SchemaForm(self._SCHEMA)
        box = named(form.widget, "b")
        wire.messages.clear()
        type_into(box, "x")
        assert not any("children" in state for _, state in wire.updates())
        assert wire.opened() == 0

    def test_problems_from_elsewhere_stay_until_their_field_is_edited(self):
        """A server's own verdict is shown where it belongs."""
        form = SchemaForm(self._SCHEMA, {"a": "x", "b": 1})
        form.widget  # noqa: B018
        form.show_problems([Problem(("a",), "no such file"), Problem((), "try later")])
        assert "No such file" in page(form.widget)
        assert "Try later" in page(form.widget)
        assert form.errors == []
        type_into(named(form.widget, "b"), "2")
        assert "No such file" in page(form.widget)
        type_into(named(form.widget, "a"), "y")
        assert "No such file" not in page(form.widget)

    def test_a_new_value_starts_calm(self):
        """Problems of the last value say nothing about this one."""
        form = SchemaForm(self._SCHEMA, {"a": "x"})
        form.widget  # noqa: B018
        form.reveal_errors()
        form.show_problems([Problem(("a",), "no such file")])
        form.value = {"b": 1}
        assert "No such file" not in page(form.widget)
        assert "Enter a value." not in page(form.widget)

    def test_an_error_in_a_field_that_waits_brings_it_out(self):
        """Past a dozen fields some are not shown: one with an error is."""
        form = SchemaForm(_object(**{f"f{i}": {"type": "string"} for i in range(30)}))
        form.widget  # noqa: B018
        form.show_problems([Problem(("f29",), "is odd")])
        assert "Is odd" in page(form.widget)
        assert named(form.widget, "f29")


class TestPlaces:
    @pytest.mark.parametrize(
        ("schema", "value", "expected"),
        [
            (
                _object(a=_object(b=_object(c={"type": "integer"}))),
                {"a": {"b": {"c": "x"}}},
                [(("a", "b", "c"), 'should be an integer, not "x"')],
            ),
            (
                _object(r={"type": "array", "items": _object(n={"minimum": 2})}),
                {"r": [{"n": 5}, {"n": 1}]},
                [(("r", 1, "n"), "should be at least 2")],
            ),
            (
                _object(m={"additionalProperties": {"type": "boolean"}}),
                {"m": {"k": 3}},
                [(("m", "k"), "should be true or false, not 3")],
            ),
            (
                {**_object(a={}), "additionalProperties": False},
                {"zz": 1},
                [(("zz",), "is an unknown argument; expected: a")],
            ),
            (
                _object(t={"prefixItems": [{"type": "integer"}, {"type": "string"}]}),
                {"t": [1, 2]},
                [(("t", 1), "should be a string, not 2")],
            ),
        ],
    )
    def test_a_path_leads_to_its_field(self, schema, value, expected):
        """Through objects, lists, tuples, maps, and to keys nobody declared."""
        form = SchemaForm(schema, value)
        form.widget  # noqa: B018
        assert form.errors == expected
        form.reveal_errors()
        assert expected[0][1][1:] in page(form.widget).replace("&quot;", '"')

    def test_of_a_union_only_the_chosen_branch_complains(self):
        """Not "fits none of them": what is wrong with the one a person chose."""
        schema = _object(
            pet={
                "oneOf": [
                    {
                        **_object(kind={"const": "cat"}, lives={"type": "integer"}),
                        "title": "Cat",
                    },
                    {
                        **_object(kind={"const": "dog"}, name={"type": "string"}),
                        "title": "Dog",
                    },
                ]
            }
        )
        form = SchemaForm(schema, {"pet": {"kind": "cat", "lives": "nine"}})
        assert form.errors == [(("pet", "lives"), 'should be an integer, not "nine"')]

    def test_a_key_may_be_called_like_its_alternative(self):
        """The text of a content block; pydantic has the name twice in its path."""
        text = {**_object(type={"const": "text"}, text={"type": "string"}), "required": ["text"]}
        link = _object(type={"const": "link"}, uri={"type": "string"})
        form = SchemaForm(_object(x={"anyOf": [text, link]}), {"x": {"type": "text"}})
        assert form.errors == [(("x", "text"), "is required")]
        form.show_problems([Problem(("x", "text", "text"), "is odd")])
        assert [field.name for field in form.wrong_fields()] == ["x.text"]
        part: dict[str, Any] = {"anyOf": [{"$ref": "#/$defs/not"}, {"type": "string"}]}
        no = {**_object(**{"not": part}), "required": ["not"]}
        form = SchemaForm({**_object(x=part), "$defs": {"not": no}}, {"x": {"not": {"not": {}}}})
        assert form.errors == [(("x", "not", "not", "not"), "is required")]

    def test_a_draft_hides_what_validation_says_of_its_field(self):
        """One sentence about one mistake."""
        form = SchemaForm({**_object(n={"type": "integer"}), "required": ["n"]})
        type_into(named(form.widget, "n"), "x")
        assert form.errors == [(("n",), "'x' is not an integer.")]


class _Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class _Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class _Model(BaseModel):
    plain: int | list[str] = 0
    pet: Annotated[_Cat | _Dog, Field(discriminator="kind")] | None = None
    smart: _Cat | _Dog | None = None
    weights: dict[int, float] = {}
    renamed: int = Field(0, alias="re-named")


def _validate(value: dict[str, Any]) -> list[Problem]:
    try:
        _Model.model_validate(value)
    except ValidationError as error:
        return pydantic_problems(error)
    return []


def _native(value: dict[str, Any]) -> SchemaForm:
    return SchemaForm(_Model.model_json_schema(), value, validate=_validate)


class TestPydantic:
    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ({"pet": {"kind": "cat", "lives": "x"}}, ("pet", "lives")),
            ({"pet": {"kind": "dog"}}, ("pet", "name")),
            ({"smart": {"kind": "dog", "name": 1}}, ("smart", "name")),
            ({"plain": "x"}, ("plain",)),
            ({"plain": [1]}, ("plain", 0)),
            ({"weights": {"1": "x"}}, ("weights", "1")),
            ({"re-named": "x"}, ("re-named",)),
        ],
    )
    def test_an_error_finds_its_field(self, value, path):
        """Past the names of union branches, by alias, into maps; other branches are silent."""
        errors = _native(value).errors
        assert path in [place for place, _ in errors]
        assert all(place[: len(path)] == path for place, _ in errors)

    @pytest.mark.parametrize(
        ("value", "paths"),
        [
            ({"lives": "x", "name": "Tom"}, [("pet", "lives")]),
            ({"tricks": ["sit", 3]}, [("pet", "tricks", 1)]),
            ({"lives": 9}, [("pet", "name")]),
        ],
    )
    def test_of_kinds_without_a_mark_only_the_chosen_one_complains(self, value, paths):
        """Pydantic lists the problems of all of them, none of which says whose it is."""

        class Cat(BaseModel):
            lives: int
            name: str

        class Dog(BaseModel):
            tricks: list[str]

        @tool
        def keep(pet: Cat | Dog) -> str:
            """Keep a pet."""
            return "kept"

        form = SchemaForm(keep.input_schema, {"pet": value}, validate=keep.problems)
        form.reveal_errors()
        assert [slot.path for slot in form.slot.walk() if slot.display.errors] == paths

    def test_a_wrong_key_is_said_to_be_the_key(self):
        """The `[key]` of pydantic is no field of the value."""
        form = _native({"weights": {"one": 1.0}})
        ((path, message),) = form.errors
        assert path == ("weights", "one")
        assert message.startswith("the key should be")

    def test_a_validator_of_the_whole_model_speaks_above_the_form(self):
        """An error without a path belongs to no field."""

        def refuse(value: dict[str, Any]) -> list[Problem]:
            return [Problem((), "a and b exclude each other")]

        form = SchemaForm(_object(a={}, b={}), validate=refuse)
        form.widget  # noqa: B018
        form.reveal_errors()
        assert "A and b exclude each other" in page(form.widget)


class TestSchemasThatCannotBeUsed:
    @pytest.mark.parametrize(
        ("schema", "notice"),
        [
            (_object(x={"type": "float"}), "has an unknown type"),
            (_object(x={"$ref": "#/$defs/gone"}), "is not there"),
            (_object(x={"$ref": "https://example.org/x"}), "is not there"),
            (_object(x={"$ref": "#/properties/x"}), "refers to itself"),
            (_object(x=3), "is not a schema"),
        ],
    )
    def test_a_field_that_cannot_be_read_says_so(self, schema, notice):
        """It is edited as JSON, under a sentence that tells why."""
        form = SchemaForm(schema)
        assert type(named(form.widget, "x")) is w.Textarea
        assert notice in page(form.widget)
        assert isinstance(form.errors, list)

    def test_a_schema_no_validator_takes_is_a_notice(self):
        """The form works; only validation is left to the server."""
        form = SchemaForm(_object(x={"type": "string", "pattern": "("}))
        type_into(named(form.widget, "x"), "v")
        assert form.value == {"x": "v"}
        assert form.errors == []
        assert "The JSON Schema is not valid" in page(form.widget)

    @pytest.mark.parametrize("kind", ["properties", "items", "anyOf", "allOf"])
    def test_nesting_has_no_limit(self, kind):
        """300 levels of anything are shown as far as a person can follow, then as JSON."""
        schema: dict[str, Any] = {"type": "string"}
        value: Any = "v"
        for _ in range(300):
            schema, value = {
                "properties": (_object(x=schema), {"x": value}),
                "items": ({"type": "array", "items": schema}, [value]),
                "anyOf": ({"anyOf": [schema, {"type": "null"}]}, value),
                "allOf": ({"allOf": [schema]}, value),
            }[kind]
        form = SchemaForm(_object(deep=schema))
        form.widget  # noqa: B018
        form.value = {"deep": value}
        assert form.value == {"deep": value}
        form.reveal_errors()

    @pytest.mark.parametrize("kind", ["allOf", "anyOf"])
    def test_a_schema_that_doubles_at_every_step_is_cheap(self, kind):
        """A dozen definitions, thousands of ways through them: each is read once."""
        parts = {
            f"A{i}": {kind: [{"$ref": f"#/$defs/A{i + 1}"}, {"$ref": f"#/$defs/A{i + 1}"}]}
            for i in range(15)
        }
        schema = _object(x={"$ref": "#/$defs/A0"})
        form = SchemaForm({**schema, "$defs": {**parts, "A15": {"type": "string"}}})
        assert type(named(form.widget, "x")) is w.Text
        form.value = {"x": "v"}
        assert form.value == {"x": "v"}

    def test_a_union_of_itself_is_anything(self):
        """It has no alternative one could choose."""
        form = SchemaForm(_object(x={"anyOf": [{"$ref": "#/properties/x"}]}))
        form.widget  # noqa: B018
        form.value = {"x": [1]}
        assert form.value == {"x": [1]}

    def test_recursion_ends_by_itself(self, wire):
        """A required chain of itself is closed at some depth, and opens on request."""
        node = {**_object(next={"$ref": "#/$defs/N"}), "required": ["next"]}
        schema = {
            **_object(n={"$ref": "#/$defs/N"}),
            "required": ["n"],
            "$defs": {"N": node},
        }
        form = SchemaForm(schema)
        form.widget  # noqa: B018
        assert wire.opened() < 40
        assert form.value == {}
        pick(named(form.widget, "next", w.RadioButtons), "a value")
        assert form.value != {}

    def test_a_broken_rule_of_a_user_is_a_notice(self):
        """A registry is the user's code: it cannot take the form down."""
        from toolbench.widgets.fields import registry

        own = registry.copy()
        own.add(100, lambda view, schema, path: path == ("x",), lambda slot: 1 / 0)
        form = SchemaForm(_object(x={"type": "string"}), registry=own)
        assert "ZeroDivisionError" in page(form.widget)
        form.value = {"x": "v"}
        assert form.value == {"x": "v"}


def test_a_union_can_be_left_while_it_is_wrong():
    """Switching the branch takes its errors along."""
    form = SchemaForm(_object(x={"anyOf": [{"type": "integer"}, {"type": "boolean"}]}))
    kinds = named(form.widget, "x")
    pick(kinds, "integer")
    type_into(named(form.widget, "x (integer)"), "x")
    assert form.blocked
    pick(kinds, "true or false")
    assert not form.blocked
    assert form.value == {"x": False}


def test_a_check_that_fails_once_is_forgotten():
    """The edit that met it raises; those that follow are shown as ever."""

    def check(value):
        return [Problem(("x",), "is odd")] if 1 / value.get("x", 1) > 1 else []

    form = SchemaForm(_object(x={"type": "integer"}), validate=check)
    values = []
    form.observe(lambda change: values.append(change.new))
    box = named(form.widget, "x")
    with pytest.raises(ZeroDivisionError):
        box.value = "0"
    box.value = "5"
    assert values == [{"x": 5}]
