"""What Gemini has no word for goes into the description, and into the report."""

import pytest

from test_llm.offers import changes
from test_llm.samples import sdk, taking
from toolbench.llm.formats import (
    format_report,
    to_gemini,
)


class TestGemini:
    """What Gemini has no word for goes into the description, and into the report."""

    @pytest.mark.parametrize(
        ("schema", "description"),
        [
            (
                {
                    "type": "string",
                    "format": "uri",
                    "default": "x",
                    "description": "Where.",
                },
                {"type": "string", "description": 'Where. (format: uri; default: "x")'},
            ),
            (
                {"type": "string", "format": "date-time"},
                {"type": "string", "format": "date-time"},
            ),
            ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
            (
                {"type": ["string", "integer", "null"]},
                {"anyOf": [{"type": "string", "nullable": True}, {"type": "integer"}]},
            ),
            (
                {"type": ["string", "integer"]},
                {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            ),
            (
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                {"type": "integer", "nullable": True},
            ),
            (
                {
                    "oneOf": [{"type": "string"}, {"type": "integer"}],
                    "description": "Id.",
                },
                {
                    "anyOf": [
                        {"type": "string", "description": "Id."},
                        {"type": "integer"},
                    ]
                },
            ),
            ({"const": "a"}, {"type": "string", "enum": ["a"]}),
            (
                {"enum": ["a", None]},
                {"type": "string", "enum": ["a"], "nullable": True},
            ),
            (
                {"type": "integer", "enum": [1, 2]},
                {"type": "integer", "description": "(one of [1, 2])"},
            ),
            (
                {"type": "number", "exclusiveMinimum": 0, "maximum": 9},
                {"type": "number", "maximum": 9, "description": "(more than 0)"},
            ),
            ({"type": "array"}, None),
            ({}, None),
            (
                {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "(no item twice)",
                },
            ),
            ({"type": "object"}, {"type": "object"}),
            (
                {"type": "object", "additionalProperties": {"type": "string"}},
                {
                    "type": "object",
                    "description": '(other keys hold {"type": "string"})',
                },
            ),
        ],
    )
    def test_words(self, schema, description):
        """Each construct has its rewriting; the SDK takes it."""
        tool = taking({"x": schema})
        types = sdk("google.genai.types")
        declaration = to_gemini(tool)
        types.FunctionDeclaration.model_validate(declaration)
        if description is not None:
            assert declaration["parameters"]["properties"]["x"] == description

    def test_defaults_and_formats(self):
        """The seeds' two rules: no default, and no format but the known ones."""
        tool = taking({"url": {"type": "string", "format": "uri", "default": "x"}})
        node = to_gemini(tool)["parameters"]["properties"]["url"]
        assert node.keys() == {"type", "description"}
        changes = [str(c) for c in format_report(tool, "gemini").changes]
        assert any("'default'" in line for line in changes)
        assert any("'format'" in line for line in changes)

    def test_recursion(self):
        """A schema that holds itself is cut where it comes back."""
        node = {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        }
        tool = taking({"tree": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
        tree = to_gemini(tool)["parameters"]["properties"]["tree"]
        assert tree["properties"]["children"]["items"]["type"] == "object"
        assert changes(tool, "gemini")["tree.children[]"].refused

    @pytest.mark.parametrize(
        "tool",
        [
            taking({"a": {"allOf": [{"$ref": "#/properties/a"}]}}),
            taking({}, allOf=[{"$ref": "#"}]),
            taking(
                {"a": {"$ref": "#/$defs/N"}},
                **{"$defs": {"N": {"type": "object", "allOf": [{"$ref": "#/$defs/N"}]}}},
            ),
        ],
    )
    def test_recursion_in_all_of(self, tool):
        """So is one that holds itself as a part of itself."""
        to_gemini(tool)
        cut = [c for c in format_report(tool, "gemini").changes if "cut" in c.message]
        assert all(change.refused for change in cut)
        assert cut

    def test_joins_anything(self):
        """A part that allows anything adds nothing."""
        parts = [{"$ref": "#/$defs/Any"}, {"type": "string"}]
        tool = taking({"a": {"allOf": parts}}, **{"$defs": {"Any": True}})
        written = to_gemini(tool)["parameters"]["properties"]["a"]
        assert written["type"] == "string"

    def test_nothing_to_give(self):
        """A tool without arguments has no parameters: Gemini refuses an empty object."""
        assert "parameters" not in to_gemini(taking({}))

    def test_unknown_requirements(self):
        """What is required but not declared is not required of Gemini."""
        tool = taking({"a": {"type": "string"}}, "a", "b")
        assert to_gemini(tool)["parameters"]["required"] == ["a"]
