"""OpenAI holds a model to a schema that qualifies, and the report says why not."""

import pytest

from test_llm.offers import changes
from test_llm.samples import WRITE, foreign, taking
from toolbench.llm.formats import (
    format_report,
    to_openai,
    to_responses,
)


class TestStrict:
    """OpenAI holds a model to a schema that qualifies, and the report says why not."""

    def test_qualifies(self):
        """All arguments required, none but those named: strict."""
        assert to_openai(WRITE)["function"]["strict"] is True
        assert to_responses(WRITE)["strict"] is True
        assert format_report(WRITE, "openai").strict is True

    def test_closed(self):
        """An object that says nothing of other arguments is closed, and that is reported."""
        tool = taking({"a": {"type": "string", "default": "x"}}, "a")
        function = to_openai(tool)["function"]
        assert function["parameters"]["additionalProperties"] is False
        assert "default" not in function["parameters"]["properties"]["a"]
        assert changes(tool, "openai").keys() == {"arguments", "a"}

    @pytest.mark.parametrize(
        ("schema", "why"),
        [
            ({"a": {"type": "string"}, "b": {"type": "string"}}, "not required: b"),
            ({"a": {"type": "object"}}, "a: the object does not name its properties"),
            ({"a": {"type": "array"}}, "a"),
            ({"a": {}}, "a: has no type"),
            ({"a": {"type": "string", "minLength": 1}}, "'minLength' is not supported"),
            ({"a": {"type": "string", "format": "uri"}}, "format 'uri'"),
            ({"a": {"oneOf": [{"type": "string"}]}}, "'oneOf' is not supported"),
            (
                {"a": {"type": "object", "additionalProperties": {"type": "string"}}},
                "a: allows arguments without a name in the schema",
            ),
        ],
    )
    def test_why_not(self, schema, why):
        """What stands in the way is named, and the schema is sent whole."""
        tool = taking(schema, "a")
        report = format_report(tool, "openai")
        assert to_openai(tool)["function"]["strict"] is False
        assert any(why in reason for reason in report.not_strict), report.not_strict
        assert report.strict is False

    def test_items_of_older_drafts(self):
        """A list with a schema for each place: OpenAI would refuse the whole request."""
        pair = {"type": "array", "items": [{"type": "string"}, {"type": "number"}]}
        draft = "http://json-schema.org/draft-07/schema#"
        schema = {"$schema": draft, "type": "object", "properties": {"a": pair}, "required": ["a"]}
        assert to_openai(foreign(schema))["function"]["strict"] is False

    def test_depth(self):
        """Eleven levels are one too many."""
        node = {"type": "string"}
        for _ in range(11):
            node = {
                "type": "object",
                "properties": {"x": node},
                "required": ["x"],
                "additionalProperties": False,
            }
        assert "levels" in str(format_report(foreign(node), "openai"))
