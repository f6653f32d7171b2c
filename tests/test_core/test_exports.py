import json
import math

import pytest
from pydantic import Field

from toolbench import (
    Action,
    Observation,
    SecurityRisk,
    TextContent,
    ToolAnnotations,
    ToolDefinition,
)
from toolbench.core.builtins import ThinkTool


class WriteAction(Action):
    """Write a file."""

    path: str = Field(description="Where to.")
    mode: str | None = None


class Written(Observation):
    size: int = 0


class OwnAction(Action):
    security_risk: int
    summary: bool = False


TOOL = ToolDefinition(
    name="write",
    description="Writes.",
    action_type=WriteAction,
    observation_type=Written,
    annotations=ToolAnnotations(title="Write", destructiveHint=True),
    meta={"v": [1, {1, 2}]},
)
READ_ONLY = TOOL.model_copy(update={"annotations": ToolAnnotations(readOnlyHint=True)})
PLAIN = TOOL.model_copy(update={"annotations": None, "meta": None, "observation_type": None})
PARAMETERS = {
    "type": "object",
    "description": "Write a file.",
    "additionalProperties": False,
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "description": "Where to."},
        "mode": {"type": "string"},
    },
}


def questions(schema):
    return [name for name in schema["properties"] if name not in PARAMETERS["properties"]]


class TestFormats:
    def test_mcp(self):
        """Names as in MCP's `tools/list`; what the tool does not say is not there."""
        assert PLAIN.to_mcp_tool() == {
            "name": "write",
            "description": "Writes.",
            "inputSchema": PARAMETERS,
        }
        full = TOOL.to_mcp_tool()
        assert full["annotations"]["title"] == "Write"
        assert full["_meta"] == {"v": [1, [1, 2]]}
        assert full["outputSchema"]["properties"]["size"] == {
            "type": "integer",
            "default": 0,
        }

    def test_openai_chat(self):
        """A function with parameters."""
        assert TOOL.to_openai_tool() == {
            "type": "function",
            "function": {
                "name": "write",
                "description": "Writes.",
                "parameters": PARAMETERS,
            },
        }

    def test_openai_responses(self):
        """The same, flat, and not strict: optionals stay optional."""
        assert TOOL.to_responses_tool() == {
            "type": "function",
            "name": "write",
            "description": "Writes.",
            "parameters": PARAMETERS,
            "strict": False,
        }

    @pytest.mark.parametrize(
        "tool",
        [TOOL, PLAIN, *ThinkTool.create()],
        ids=lambda tool: tool.name + tool.title,
    )
    def test_are_json(self, tool):
        """Every export goes through `json.dumps` as it is: the reference's MCP one does not."""
        for export in (
            tool.to_mcp_tool(),
            tool.to_openai_tool(True),
            tool.to_responses_tool(True),
        ):
            assert json.loads(json.dumps(export, allow_nan=False)) == export

    def test_carry_any_meta(self):
        """Bytes and objects in the meta are written as JSON can carry them, and as they are now."""
        meta = {
            "icon": b"\xff\x00",
            "level": SecurityRisk.LOW,
            "at": {1: (2, math.inf)},
        }
        tool = PLAIN.model_copy(update={"meta": meta})
        for exported in (tool.to_mcp_tool()["_meta"], tool.to_dict()["meta"]):
            assert exported == {
                "icon": "_wA=",
                "level": "LOW",
                "at": {"1": [2, "Infinity"]},
            }
        meta["new"] = 1
        assert tool.to_mcp_tool()["_meta"]["new"] == 1

    def test_say_nothing_of_a_class_without_a_docstring_of_its_own(self):
        """What the base classes say is for programmers."""

        class Bare(Action):
            pass

        for action_type in (Action, Bare):
            tool = ToolDefinition(
                name="count",
                description="Counts.",
                action_type=action_type,
                observation_type=Observation,
            )
            parameters = tool.to_openai_tool()["function"]["parameters"]
            assert "description" not in parameters | tool.input_schema
            assert "description" not in tool.to_mcp_tool()["outputSchema"]

    def test_are_the_caller_s_to_change(self):
        """Changing an export changes no other."""
        for export in (TOOL.to_mcp_tool, TOOL.to_openai_tool, TOOL.to_responses_tool):
            before = json.dumps(export())
            changed = export()
            for part in list(changed.values()):
                if isinstance(part, dict):
                    part.clear()
            assert json.dumps(export()) == before
        TOOL.input_schema.clear()
        assert TOOL.input_schema["properties"]


class TestOverrides:
    def test_of_mcp_schemas(self):
        """Either schema may be another, an empty one too."""
        exported = TOOL.to_mcp_tool(input_schema={}, output_schema={"type": "object"})
        assert (exported["inputSchema"], exported["outputSchema"]) == (
            {},
            {"type": "object"},
        )

    def test_of_mcp_schemas_stay_the_caller_s(self):
        """Changing the export changes neither schema that was given."""
        schema = {"type": "object", "properties": {"x": {}}}
        exported = TOOL.to_mcp_tool(input_schema=schema, output_schema=schema)
        exported["inputSchema"]["properties"].clear()
        exported["outputSchema"]["properties"].clear()
        assert schema == {"type": "object", "properties": {"x": {}}}

    def test_of_the_action_type(self):
        """A model may be shown the arguments of another class, questions included."""
        other = Action.from_mcp_schema("Other", {"type": "object", "properties": {"x": {}}})
        for exported in (
            TOOL.to_openai_tool(True, other)["function"],
            TOOL.to_responses_tool(True, other),
        ):
            assert list(exported["parameters"]["properties"]) == ["security_risk", "x"]
        assert (
            "security_risk"
            not in READ_ONLY.to_responses_tool(True, other)["parameters"]["properties"]
        )


class TestQuestions:
    def test_are_asked_on_request_only(self):
        """Nothing is added unless it is wanted; what is wanted comes first."""
        assert questions(TOOL.parameters()) == []
        both = TOOL.parameters(security_risk=True, summary=True)
        assert list(both["properties"])[:2] == ["security_risk", "summary"]
        assert questions(TOOL.to_openai_tool(True)["function"]["parameters"]) == ["security_risk"]
        assert questions(TOOL.to_responses_tool(True, add_summary=True)["parameters"]) == [
            "security_risk",
            "summary",
        ]

    def test_of_risk_are_for_tools_that_change_something(self):
        """A read-only tool is not asked; one that says nothing of itself is."""
        assert questions(READ_ONLY.parameters(security_risk=True, summary=True)) == ["summary"]
        assert questions(PLAIN.parameters(security_risk=True)) == ["security_risk"]

    def test_of_risk_say_what_the_levels_mean(self):
        """The model reads the four levels and their meanings, and may leave the answer out."""
        schema = TOOL.parameters(security_risk=True)
        rating = schema["properties"]["security_risk"]
        assert set(rating["enum"]) == {"UNKNOWN", "LOW", "MEDIUM", "HIGH"}
        for risk in SecurityRisk:
            assert f"{risk.value}: {risk.description}" in rating["description"]
        assert "security_risk" not in schema["required"]

    def test_never_take_the_place_of_an_argument(self):
        """A tool's own parameter of that name stays its own."""
        tool = ToolDefinition(name="t", action_type=OwnAction)
        schema = tool.parameters(security_risk=True, summary=True)["properties"]
        assert schema["security_risk"] == {"type": "integer"}
        assert schema["summary"] == {"type": "boolean", "default": False}

    def test_make_no_classes(self):
        """The schema is merged; no subclass appears at run time."""
        before = WriteAction.__subclasses__()
        TOOL.parameters(security_risk=True, summary=True)
        assert WriteAction.__subclasses__() == before

    def test_leave_the_action_alone(self):
        """What is accepted does not change with what is asked."""
        TOOL.parameters(security_risk=True)
        assert questions(TOOL.input_schema) == []


class TestForeignSchemas:
    def test_are_exported_as_they_are(self):
        """Whoever reads the export reads the schema as it was written."""
        schema = {
            "type": "object",
            "properties": {"x": {"oneOf": [{}, False]}},
            "x-y": 1,
        }
        tool = ToolDefinition(name="t", action_type=Action.from_mcp_schema("A", schema))
        assert tool.to_mcp_tool()["inputSchema"] == tool.input_schema == schema

    def test_are_told_to_be_of_objects(self):
        """MCP and OpenAI want the type said; a schema may have left it out."""
        action = Action.from_mcp_schema("A", {"required": ["x"]})
        tool = ToolDefinition(name="t", action_type=action)
        expected = {"type": "object", "required": ["x"]}
        assert tool.to_mcp_tool()["inputSchema"] == expected
        # Which OpenAI wants too
        expected["properties"] = {}
        assert tool.to_openai_tool()["function"]["parameters"] == expected

    def test_keep_an_argument_that_is_called_as_a_question(self):
        """A server's own `security_risk` is not replaced."""
        schema = {
            "type": "object",
            "properties": {"security_risk": {"type": "integer"}},
        }
        tool = ToolDefinition(name="t", action_type=Action.from_mcp_schema("A", schema))
        assert tool.parameters(security_risk=True) == schema


class TestSchemaMethods:
    def test_overridden_are_followed(self):
        """A class that writes its own schema is exported with it."""

        class MineAction(Action):
            a: int

            @classmethod
            def to_mcp_schema(cls):
                return {**super().to_mcp_schema(), "title": "Mine"}

        tool = ToolDefinition(name="t", action_type=MineAction)
        assert tool.to_openai_tool()["function"]["parameters"]["title"] == "Mine"

    def test_observations_describe_their_content(self):
        """The output schema accepts what the observation writes of itself."""
        schema = TOOL.to_mcp_tool()["outputSchema"]
        block = TextContent(text="x")
        assert {"type", "text"} <= set(
            schema["properties"]["content"]["items"]["anyOf"][0]["properties"]
        )
        assert Written(content=[block], size=1).to_arguments()["size"] == 1


class TestHints:
    @pytest.mark.parametrize(
        ("hints", "published"),
        [
            ({}, None),
            ({"title": None}, None),
            ({"readOnlyHint": True}, {"readOnlyHint": True}),
            (
                {"readOnlyHint": False, "destructiveHint": True},
                {"readOnlyHint": False, "destructiveHint": True},
            ),
        ],
        ids=repr,
    )
    def test_are_published_if_they_were_declared(self, hints, published):
        """MCP's default is what holds without a word; nobody is quoted as having said it."""
        exported = ToolDefinition(
            name="write",
            description="Writes.",
            action_type=WriteAction,
            annotations=ToolAnnotations(**hints),
        ).to_mcp_tool()
        assert exported.get("annotations") == published
