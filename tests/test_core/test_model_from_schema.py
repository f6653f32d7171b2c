import keyword
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from toolbench import Action, Observation, ToolDefinition
from toolbench.core.foreign import safe_attribute
from toolbench.errors import RegistrationError, SchemaError

ODD_NAMES = [
    "kind", "schema", "copy", "json", "dict", "model_config", "model_dump", "model_fields",
    "model_validate_it", "self", "cls", "class", "None", "_x", "__class__", "__init__", "", " ",
    "-", "1a", "a b", "x-y", "x.y", "$ref", "²", "é", "to_dict", "foreign_schema", "visualize",
    "newest", "security_risk", "field", "_", "mcp_arg_kind", "mcp_arg_mcp_arg_kind", "mcp_arg_",
]  # fmt: skip


def foreign(schema):
    return Action.from_mcp_schema("Foreign", schema)


class TestPropertyNames:
    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_any_works(self, name):
        """A property may be called anything: it is taken, checked, kept and written down."""
        model = foreign(
            {
                "type": "object",
                "properties": {name: {"type": "integer"}},
                "required": [name],
            }
        )
        action = model.model_validate({name: 3})
        assert action.to_arguments() == {name: 3}
        assert model.from_dict(action.to_dict()) == action
        assert action.visualize is not None
        for wrong in ({}, {name: "x"}):
            with pytest.raises(ValidationError):
                model.model_validate(wrong)

    def test_all_at_once(self):
        """Names that would become the same attribute get one each."""
        names = [*ODD_NAMES, *keyword.kwlist, "x_y", "x y", "x", "x_", "field_1a"]
        model = foreign({"type": "object", "properties": {n: {"type": "integer"} for n in names}})
        arguments = {name: n for n, name in enumerate(names)}
        assert model.model_validate(arguments).to_arguments() == arguments
        assert len(model.model_fields) == len(set(names))

    def test_extra_ones_may_look_like_ours(self):
        """An argument beside the properties never gets in the way of an attribute."""
        model = foreign({"type": "object", "properties": {"class": {}}})
        arguments = {"class": 1, "class_": 2, "model_config": 3, "to_dict": 4}
        action = model.model_validate(arguments)
        assert action.to_arguments() == arguments
        assert action.class_ == 1

    @given(st.lists(st.text(max_size=6), unique=True, max_size=6))
    def test_attributes_are_identifiers_of_their_own(self, names):
        """Every name gets an attribute that Python, pydantic and the others leave free."""
        existing = set(dir(Action))
        for name in names:
            attribute = safe_attribute(name, existing)
            assert attribute.isidentifier() and not keyword.iskeyword(attribute)
            assert attribute not in existing and not attribute.startswith("_")
            existing.add(attribute)


class TestReading:
    def test_fields_have_the_types_the_schema_names(self):
        """Attributes are there to be read, typed; an unset optional reads as None."""
        model = foreign(
            {
                "type": "object",
                "properties": {
                    "n": {"type": "integer", "description": "How many."},
                    "tags": {"type": ["array", "null"]},
                },
                "required": ["n"],
            }
        )
        action = model(n=1)
        assert (action.n, action.tags) == (1, None)
        assert model.model_fields["n"].annotation is int
        assert model.model_fields["n"].description == "How many."
        assert model.model_fields["tags"].annotation == list[Any] | None

    def test_is_by_the_real_name(self):
        """A problem is reported at the property, not at the attribute."""
        model = foreign({"type": "object", "properties": {"class": {"type": "integer"}}})
        with pytest.raises(ValidationError) as caught:
            model.model_validate({"class": "x"})
        assert caught.value.errors()[0]["loc"] == ("class",)

    def test_numbers_stay_what_they_are(self):
        """`1` is not made `1.0` where a number is asked for, nor `1.0` an integer."""
        model = foreign({"properties": {"x": {"type": "number"}, "n": {"type": "integer"}}})
        action = model.model_validate({"x": 1, "n": 1.0})
        assert repr(action.to_arguments()) == "{'x': 1, 'n': 1.0}"

    @pytest.mark.parametrize("mapping", [dict, OrderedDict, MappingProxyType])
    def test_takes_any_mapping(self, mapping):
        """Arguments are a mapping; which one is not the schema's business."""
        model = foreign({"properties": {"x": {"type": "integer"}}})
        assert model.model_validate(mapping({"x": 1})).x == 1

    def test_takes_its_own_objects(self):
        """An action that was checked is not checked again as if it were JSON."""
        action = foreign({})(a=1)
        assert type(action).model_validate(action) is action

    def test_refuses_what_json_cannot_carry(self):
        """A Python object in place of an argument is a problem, not a crash."""
        model = foreign({"properties": {"x": {"type": "string"}}})
        with pytest.raises(ValidationError, match="cannot be sent as JSON"):
            model.model_validate({"x": object()})

    def test_observations_can_be_made_of_schemas_too(self):
        """A server's `outputSchema` gives an Observation."""
        observation_type = Observation.from_mcp_schema(
            "Seen", {"properties": {"n": {"type": "integer"}}}
        )
        assert observation_type.model_validate({"n": 1}).n == 1
        assert issubclass(observation_type, Observation)


def test_a_subclass_adds_no_field():
    """The JSON Schema is what callers are told, so a field is added there."""
    model = foreign({"properties": {"a": {"type": "integer"}}})

    class Shown(model):
        @property
        def visualize(self):
            return f"a is {self.a}"

    assert Shown(a=1).visualize == "a is 1"
    with pytest.raises(RegistrationError, match="More adds a field to Foreign: put it into"):
        type("More", (model,), {"__annotations__": {"note": str}, "__module__": __name__})


class TestSchemasThatCannotBeUsed:
    @pytest.mark.parametrize(
        ("schema", "message"),
        [
            ([], "must be a JSON object, not"),
            (True, "must be a JSON object, not"),
            ({"type": "foo"}, "not valid at type"),
            (
                {"properties": {"a": {"pattern": "("}}},
                "not valid at properties/a/pattern",
            ),
            ({"$ref": "#/$defs/nowhere"}, "/\\$defs/nowhere"),
            ({"properties": {"a": {"default": object()}}}, "not JSON"),
            (
                {"$ref": "https://example.org/x.json"},
                "not valid: references to other documents are not followed",
            ),
            ({"$ref": "file:///etc/passwd"}, "other documents are not followed"),
        ],
    )
    def test_say_what_is_wrong(self, schema, message):
        """One error, with a sentence; nothing is fetched from anywhere."""
        with pytest.raises(SchemaError, match=message):
            foreign(schema)

    @pytest.mark.parametrize("depth", [150, 5_000])
    def test_include_bottomless_ones(self, depth):
        """A schema nested beyond reason is refused before anything else trips over it."""
        schema = {"type": "object"}
        for _ in range(depth):
            schema = {"type": "object", "properties": {"a": schema}}
        with pytest.raises(SchemaError):
            foreign(schema)


class TestDialects:
    def test_follow_the_schema(self):
        """`exclusiveMinimum: true` is draft 4, and a number since draft 6."""
        draft4 = "http://json-schema.org/draft-04/schema#"
        limited = {"minimum": 3, "exclusiveMinimum": True}
        model = foreign({"$schema": draft4, "properties": {"x": limited}})
        with pytest.raises(ValidationError):
            model.model_validate({"x": 3})

    @pytest.mark.parametrize("uri", ["https://example.org/mine", "", "urn:x"])
    def test_unknown_ones_are_read_as_the_newest(self, uri):
        """A `$schema` nobody knows does not make a tool unusable."""
        model = foreign({"$schema": uri, "properties": {"x": {"type": "integer"}}})
        with pytest.raises(ValidationError):
            model.model_validate({"x": "a"})

    def test_formats_are_notes(self):
        """`format` refuses nothing, as the specification has it."""
        model = foreign({"properties": {"x": {"type": "string", "format": "email"}}})
        assert model.model_validate({"x": "no address"}).x == "no address"


class TestTheClass:
    def test_belongs_to_who_made_it(self):
        """The class counts as defined where it was made, under the name it was given."""
        model = foreign({})
        assert (model.__name__, model.__module__) == ("Foreign", __name__)

    def test_keeps_a_schema_of_its_own(self):
        """Changing what was passed in, or what came out, changes nothing in the class."""
        schema = {"properties": {"x": {"type": "integer"}}}
        model = foreign(schema)
        schema["properties"]["x"]["type"] = "string"
        model.to_mcp_schema()["properties"].clear()
        ToolDefinition(name="t", action_type=model).input_schema.clear()
        assert model.to_mcp_schema() == {"properties": {"x": {"type": "integer"}}}
        assert model.model_validate({"x": 1}).x == 1
