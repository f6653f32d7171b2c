"""A schema in normal form: references followed, alternatives folded, junk survived."""

from collections import OrderedDict
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_core.schemas import SCHEMAS, fitting, judge

from toolbench.jsonschema import describe
from toolbench.jsonschema.node import SchemaView, read
from toolbench.jsonschema.types import types_of_value
from toolbench.jsonschema.validate import validator_of

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

    def test_types_of_all_of_are_those_that_each_part_has(self):
        """Several, or one; and a part that is broken changes nothing."""
        parts = [{"type": ["string", "null", "integer"]}, {"type": ["integer", "string"]}]
        assert set(read({"allOf": parts}).types) == {"string", "integer"}
        assert read({"allOf": [*parts, _TEXT]}).type == "string"
        assert read({"properties": {"a": _TEXT}, "allOf": [{"properties": 5}]}).names == ["a"]
        # Values that JSON does not have, and that have no hash
        assert read({"allOf": [{"enum": [{1}]}, {"enum": [{1}]}]}).values == []

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


class TestNodes:
    @pytest.mark.slow
    @given(pair=SCHEMAS.flatmap(lambda s: st.tuples(st.just(s), fitting(s))))
    def test_what_fits_is_of_a_class_and_value_the_node_names(self, pair):
        """No value that the reference accepts is ruled out by what a node says of it."""
        schema, value = pair
        if not judge(schema).is_valid(value):
            return
        whole = read(schema)
        assert dict in whole.classes
        assert set(whole.required) <= value.keys()
        for name, item in value.items():
            node = whole.at(name)
            classes = node.classes
            assert classes is None or _class_of(item) & classes
            if node.values and not node.nullable:
                assert item in node.values

    @pytest.mark.slow
    @given(schema=SCHEMAS)
    def test_a_walk_ends(self, schema):
        """A schema that holds itself has as many nodes as somebody asks for, and no more."""
        node = read(schema)
        for _ in range(50):
            assert describe.about(node)
            node = node.at(next(iter(node.names), 0))

    def test_alternatives_without_end_are_cut(self):
        """A choice of choices that grows with each step is looked at two hundred times."""
        loop = {"anyOf": [{"$ref": "#/$defs/a", "minLength": 1}, {"type": "string"}]}
        node = read({"$defs": {"a": loop}, "$ref": "#/$defs/a"})
        assert node.types == ("string",)
        assert len(node.alternatives) <= 200

    @pytest.mark.parametrize("schema", [None, True, [], {"anyOf": 3, "properties": 3}])
    def test_what_is_no_schema_is_anything(self, schema):
        """A server may send anything."""
        node = read(schema)
        assert node.names == node.at("x").choices == node.at(0).names == []
        assert node.at("x", 0, "y").classes is None

    def test_a_part_of_several_alternatives_is_any_of_theirs(self):
        """Whoever asks for a property of a union gets what each alternative says of it."""
        kinds = [{"properties": {"x": {"type": t}}} for t in ("string", "integer")]
        assert read({"oneOf": kinds}).at("x").types == ("string", "integer")

    def test_a_part_that_no_alternative_has_is_anything(self):
        """As is one of a value without a schema."""
        assert read({"anyOf": [_TEXT, _INT]}).at("x").types == ()

    def test_bytes_and_defaults_are_those_that_the_schema_names(self):
        """A string is not bytes without an encoding; a default may be null."""
        encoded = {"format": "byte"}
        nodes = [read(schema) for schema in (_TEXT, {**_TEXT, **encoded}, {**_INT, **encoded})]
        assert [node.is_bytes for node in nodes] == [False, True, False]
        assert [read(schema).has_default for schema in ({"default": None}, {})] == [True, False]

    def test_what_is_required_is_a_property(self):
        """Declared or not: it is then what other keys are."""
        schema = {"required": ["a"], "additionalProperties": _INT}
        assert read(schema).properties["a"].types == ("integer",)

    def test_a_key_is_what_its_pattern_says(self):
        """What nobody declared is what its pattern says, else what other keys are."""
        patterns = {"[": _NULL, "^n_": _INT}
        other = {"patternProperties": patterns, "additionalProperties": _TEXT}
        node = read({**other, "properties": {"n_a": {"type": "boolean"}}})
        types = [node.at(name).types for name in ("n_a", "n_b", "b")]
        assert types == [("boolean",), ("integer",), ("string",)]
        required = read({**other, "required": ["n_c"]})
        assert required.properties["n_c"].types == ("integer",)


class TestTypes:
    @pytest.mark.parametrize(
        ("value", "types"),
        [
            (1, {"integer", "number"}),
            (1.0, {"integer", "number"}),
            (1.5, {"number"}),
            (True, {"boolean"}),
            (None, {"null"}),
            (IntEnum("E", "A").A, {"integer", "number"}),
            (OrderedDict(), {"object"}),
            (b"", set()),
        ],
    )
    def test_a_value_has_the_types_json_schema_gives_it(self, value, types):
        """Whole numbers are integers however they are written; true is no number."""
        assert types_of_value(value) == types


def test_no_value_of_the_corpus_is_ruled_out(published, valid_values):
    """What fits a published schema is of a class, and among the values, that its node names."""
    judged = 0
    for tool, values in zip(published, valid_values, strict=True):
        schema = tool["inputSchema"]
        whole, validator = read(schema), validator_of(schema)
        for _, value in values:
            if validator.is_valid(value):
                assert set(whole.required) <= value.keys()
                for name, item in value.items():
                    node, judged = whole.at(name), judged + 1
                    assert node.classes is None or _class_of(item) & node.classes
                    if node.values and not node.takes_null:
                        assert item in node.values
    assert judged > 7 * len(published)


def _class_of(value):
    whole = isinstance(value, float) and value.is_integer()
    return {int, float} if whole else {type(value)}
