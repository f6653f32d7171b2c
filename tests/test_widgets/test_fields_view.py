"""A schema as a form reads it: references followed, alternatives folded, junk survived."""

import pytest

from toolbench.widgets.equality import same
from toolbench.widgets.fields.match import admits
from toolbench.widgets.fields.view import SchemaView

_NULL = {"type": "null"}
_TEXT = {"type": "string"}
_INT = {"type": "integer"}


class TestFolding:
    @pytest.mark.parametrize(
        ("schema", "folded"),
        [
            ({"type": ["string", "null"]}, _TEXT),
            ({"anyOf": [_TEXT, _NULL]}, _TEXT),
            ({"oneOf": [{"const": None}, _TEXT]}, _TEXT),
            ({"type": "string", "nullable": True}, {**_TEXT, "nullable": True}),
            ({"enum": ["a", None]}, {"enum": ["a"]}),
            (
                {"anyOf": [{"anyOf": [_INT, _NULL]}], "title": "T"},
                {"type": "integer", "title": "T"},
            ),
        ],
    )
    def test_null_is_a_state_and_no_alternative(self, schema, folded):
        """However it is written."""
        node = SchemaView(schema).node(schema)
        assert node.schema == folded
        assert node.nullable

    @pytest.mark.parametrize(
        ("schema", "folded"),
        [
            ({"anyOf": [_INT, {"type": "number"}]}, {"type": "number"}),
            ({"anyOf": [{"minLength": 1}, {"pattern": "a"}], "type": "string"}, _TEXT),
            (
                {"oneOf": [{"const": 1, "title": "one"}, {"enum": [2, 3]}]},
                {"enum": [1, 2, 3], "enumNames": ["one", None, None]},
            ),
            ({"type": ["integer", "number"]}, {"type": "number"}),
        ],
    )
    def test_alternatives_that_look_alike_are_one_field(self, schema, folded):
        """Numbers are numbers, texts are texts, constants are a list to choose from."""
        assert SchemaView(schema).node(schema).schema == folded

    def test_real_alternatives_stay(self):
        """Each with the rules they share."""
        schema = {"type": ["string", "array"], "minLength": 1, "title": "T"}
        node = SchemaView(schema).node(schema)
        assert node.schema == {
            "title": "T",
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minLength": 1},
            ],
        }

    def test_all_of_is_merged(self):
        """Properties and required names are united; a property in two parts obeys both."""
        schema = {
            "allOf": [
                {"properties": {"a": _TEXT, "b": _TEXT}, "required": ["a"]},
                {"properties": {"b": {"maxLength": 2}}, "required": ["b"]},
            ]
        }
        merged = SchemaView(schema).node(schema).schema
        assert merged["required"] == ["a", "b"]
        assert merged["properties"]["a"] == _TEXT
        assert merged["properties"]["b"] == {"allOf": [_TEXT, {"maxLength": 2}]}

    def test_properties_of_alternatives_are_offered(self):
        """An object with alternatives shows the fields of all of them."""
        schema = {
            "properties": {"a": _TEXT},
            "oneOf": [{"properties": {"b": _INT}}, {"required": ["a"]}],
        }
        assert SchemaView(schema).node(schema).schema["properties"] == {
            "a": _TEXT,
            "b": _INT,
        }

    def test_a_tuple_of_an_older_draft_is_a_tuple(self):
        """Before 2020-12 the positions stood in `items`."""
        schema = {"type": "array", "items": [_INT, _TEXT]}
        assert SchemaView(schema).node(schema).schema["prefixItems"] == [_INT, _TEXT]

    @pytest.mark.parametrize(
        ("schema", "kind"),
        [
            ({"properties": {}}, "object"),
            ({"required": ["a"]}, "object"),
            ({"items": {}}, "array"),
            ({"pattern": "a"}, "string"),
            ({"minimum": 1}, "number"),
            ({"type": "dict", "properties": {}}, "object"),
        ],
    )
    def test_a_type_that_is_implied_is_known(self, schema, kind):
        """Servers leave it out, or write one of their own."""
        assert SchemaView(schema).node(schema).schema["type"] == kind


class TestReferences:
    @pytest.mark.parametrize(
        "ref",
        ["#/$defs/a~1b", "#/$defs/a%2Fb", "#/properties/x", "#/list/1"],
    )
    def test_pointers_into_the_document_are_followed(self, ref):
        """Escaped, into any part, and through lists."""
        root = {"$defs": {"a/b": _INT}, "properties": {"x": _INT}, "list": [{}, _INT]}
        assert SchemaView(root).node({"$ref": ref}).schema == _INT

    def test_what_stands_beside_a_reference_wins(self):
        """A description at the property is nearer than the one at the definition."""
        root = {"$defs": {"N": {**_INT, "description": "far"}}}
        node = SchemaView(root).node({"$ref": "#/$defs/N", "description": "near"})
        assert node.schema["description"] == "near"

    @pytest.mark.parametrize(
        "ref",
        ["#/gone", "other.json#/x", "#anchor", 7, None, "#/list/9", "#/$defs/loop"],
    )
    def test_a_reference_that_leads_nowhere_is_a_notice(self, ref):
        """And anything goes there."""
        root = {"list": [], "$defs": {"loop": {"$ref": "#/$defs/loop"}}}
        node = SchemaView(root).node({"$ref": ref, "title": "T"})
        assert node.notice
        assert node.schema in ({"title": "T"}, {})


class TestMatching:
    @pytest.mark.parametrize(
        ("schema", "value", "verdict"),
        [
            (_INT, 1, True),
            (_INT, 1.0, True),
            (_INT, True, False),
            ({"type": "boolean"}, 1, False),
            (_TEXT, None, False),
            ({"type": ["string", "null"]}, None, True),
            ({"const": 1}, True, False),
            ({"enum": ["a"]}, "a", True),
            ({"type": "array", "items": _INT}, [1, "a"], False),
            ({"properties": {"a": {"const": 1}}}, {"a": 2}, False),
            ({"properties": {}, "required": ["a"]}, {}, False),
            ({"properties": {}, "additionalProperties": False}, {"a": 1}, False),
            ({}, object(), True),
            ({"type": 3}, "x", True),
        ],
    )
    def test_shapes_are_told_apart_without_a_validator(self, schema, value, verdict):
        """Types, constants and required keys decide; 1 is no true."""
        assert admits(SchemaView(schema), schema, value) is verdict


class TestEquality:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (1, True),
            (1, 1.0),
            (0.0, -0.0),
            ("1", 1),
            (None, False),
            ([], {}),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            ([1], [1, 2]),
            ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}),
        ],
    )
    def test_what_json_writes_differently_differs(self, left, right):
        """Python's `==` calls most of these equal."""
        assert not same(left, right)
        assert same(left, left)
        assert same(right, right)

    def test_nan_is_itself(self):
        """A value that was set and read back has not changed."""
        assert same([float("nan")], [float("nan")])
