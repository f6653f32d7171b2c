"""What each provider is told of a tool: taken by its own types, and every loss reported."""

import json
from typing import Literal

import jsonschema_rs
import pytest
from pydantic import Field

from test_llm.offers import changes, parameters
from test_llm.samples import (
    GREP,
    WRITE,
    conforms,
    foreign,
    sdk,
    taking,
)
from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.walk import every
from toolbench.llm.formats.tool_formats import (
    SHORT_DESCRIPTION,
    format_report,
    to_anthropic,
    to_format,
    to_gemini,
    to_mcp,
    to_openai,
    to_responses,
)
from toolbench.llm.wire import WIRES

ALTERNATIVES = {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]}
RISKS = ["UNKNOWN", "LOW", "MEDIUM", "HIGH"]


def bare(schema):
    """*schema* without the empty lists and objects that say nothing."""
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: bare(v) for k, v in schema.items() if v not in ([], {})}


class TestProvidersTypes:
    """Each result is what the provider's SDK says a tool is."""

    @pytest.fixture(params=[GREP, WRITE], ids=lambda tool: tool.name)
    def tool(self, request):
        return request.param

    def test_openai(self, tool):
        """A function for chat completions."""
        kind = sdk("openai.types.chat").ChatCompletionToolParam
        assert conforms(kind, to_openai(tool))

    def test_responses(self, tool):
        """A function tool of the Responses API."""
        kind = sdk("openai.types.responses").FunctionToolParam
        assert conforms(kind, to_responses(tool))

    def test_anthropic(self, tool):
        """A tool of the Messages API."""
        kind = sdk("anthropic.types").ToolParam
        assert conforms(kind, to_anthropic(tool))

    def test_gemini(self, tool):
        """A function declaration, of which the SDK knows every field."""
        kind = sdk("google.genai.types").FunctionDeclaration
        assert kind.model_validate(to_gemini(tool)).name == tool.name

    def test_mcp(self, tool):
        """A tool as the protocol lists it."""
        kind = sdk("mcp.types").Tool
        assert kind.model_validate(to_mcp(tool)).name == tool.name


class TestOneExporter:
    """A tool writes itself in one place; a provider's format starts from there."""

    def test_changes_nothing_that_is_accepted(self):
        """A tool without a change is sent as it exports itself, but for `strict`."""
        assert format_report(GREP, "responses").changes == ()
        exported = GREP.to_responses_tool()
        assert to_responses(GREP) == exported
        function = {k: v for k, v in exported.items() if k != "type"}
        assert to_openai(GREP) == {"type": "function", "function": function}

    def test_uses_a_tools_own_export(self):
        """A class that adds to its export, as in OpenHands, adds to what a model gets."""

        class Custom(ToolDefinition):
            def to_openai_tool(self, *args, **options):
                exported = super().to_openai_tool(*args, **options)
                exported["function"]["description"] += " Custom."
                return exported

        tool = Custom(name="custom", description="Do it.", action_type=GREP.action_type)
        assert to_openai(tool)["function"]["description"] == "Do it. Custom."


class TestRealTools:
    """Published tools, and what each provider is known to turn down."""

    def test_openai(self, real_tools):
        """The arguments are an object without alternatives at its top; lists have items."""
        for tool in real_tools:
            function = to_openai(tool)["function"]
            schema = function["parameters"]
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "enum"}
            assert len(function["name"]) <= 64
            assert len(function["description"]) <= SHORT_DESCRIPTION
            assert all("items" in n for _, n in every(schema) if n.get("type") == "array")

    def test_anthropic(self, real_tools):
        """The schema is a valid one of draft 2020-12."""
        for tool in real_tools:
            schema = to_anthropic(tool)["input_schema"]
            jsonschema_rs.meta.validate({k: v for k, v in schema.items() if k != "$schema"})
            assert not schema.keys() & {"anyOf", "oneOf", "allOf"}

    def test_gemini(self, real_tools):
        """Every keyword is one of Gemini's, and the SDK takes the whole."""
        types = sdk("google.genai.types")
        for tool in real_tools:
            declared = types.FunctionDeclaration.model_validate(to_gemini(tool))
            assert declared.name

    def test_mcp(self, real_tools):
        """MCP takes what was published, unchanged."""
        for tool in real_tools:
            assert to_mcp(tool)["inputSchema"] == tool.action_type.foreign_schema
            assert format_report(tool, "mcp").changes == ()

    def test_reported(self, real_tools):
        """A schema that is not sent as it is has a report that says so."""
        for tool in real_tools:
            for provider in ("openai", "anthropic", "gemini"):
                report = format_report(tool, provider)
                schema = bare(tool.action_type.foreign_schema)
                sent = bare(parameters(tool, provider) or {"type": "object"})
                assert sent == schema or report.changes, (tool.name, provider)


class TestQuestions:
    """A model can be asked about the call itself."""

    def test_risk(self):
        """Asked of a tool that changes things, never of a read-only one."""
        properties = to_anthropic(WRITE, security_risk=True)["input_schema"]["properties"]
        spared = to_anthropic(GREP, security_risk=True)["input_schema"]["properties"]
        assert properties["security_risk"]["enum"] == RISKS
        assert "security_risk" not in spared

    @pytest.mark.parametrize("provider", WIRES)
    def test_both(self, provider):
        """Every format asks for both."""
        exported = json.dumps(to_format(WRITE, provider, security_risk=True, summary=True))
        assert '"security_risk"' in exported
        assert '"summary"' in exported

    @pytest.mark.parametrize("provider", WIRES)
    @pytest.mark.parametrize("top", [{}, ALTERNATIVES], ids=["plain", "anyOf"])
    def test_come_first(self, provider, top):
        """A call that is cut off keeps its rating: models write arguments in the schema's order."""
        tool = taking({"text": {"type": "string"}}, **top)
        schema = parameters(tool, provider, security_risk=True, summary=True)
        assert list(schema["properties"])[:3] == ["security_risk", "summary", "text"]


class TestTop:
    """Alternatives at the top of the arguments become one object."""

    def test_at_least_one(self):
        """`one of these is required` is told in the description."""
        properties = {"a": {"type": "string"}, "b": {"type": "string"}}
        tool = taking(properties, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
        schema = to_anthropic(tool)["input_schema"]
        assert schema["properties"] == properties
        assert "(a) or (b)" in schema["description"]
        assert changes(tool, "anthropic")["arguments"].refused

    def test_branches(self):
        """The properties of all alternatives are offered, what all require is required."""
        one = {
            "type": "object",
            "properties": {"a": {"type": "string"}, "k": {"const": 1}},
        }
        two = {
            "type": "object",
            "properties": {"b": {"type": "string"}, "k": {"const": 2}},
        }
        branches = [{**one, "required": ["a", "k"]}, {**two, "required": ["b", "k"]}]
        schema = to_openai(foreign({"oneOf": branches}))["function"]["parameters"]
        assert schema["properties"].keys() == {"a", "b", "k"}
        assert schema["required"] == ["k"]

    def test_all_of(self):
        """`allOf` is one object that asks for all."""
        part = {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
        tool = taking({"a": {"type": "string"}}, "a", allOf=[part])
        schema = to_gemini(tool)["parameters"]
        assert schema["required"] == ["a", "b"]

    def test_reference(self):
        """A reference at the top is followed."""
        inner = {"type": "object", "properties": {"a": {"type": "string"}}}
        tool = foreign({"$ref": "#/$defs/In", "$defs": {"In": inner}})
        assert parameters(tool, "openai")["properties"] == inner["properties"]


class TestDrafts:
    """Anthropic reads draft 2020-12."""

    def test_fixed_places(self):
        """A list of fixed places in the words of draft 7 is told in those of 2020-12."""
        draft = "http://json-schema.org/draft-07/schema#"
        tool = taking(
            {
                "at": {
                    "type": "array",
                    "items": [{"type": "number"}, {"type": "number"}],
                }
            },
            **{"$schema": draft},
        )
        schema = to_anthropic(tool)["input_schema"]
        assert schema["properties"]["at"]["prefixItems"] == [{"type": "number"}] * 2
        at = to_gemini(tool)["parameters"]["properties"]["at"]
        assert at["items"] == {"type": "number"}
        assert "$schema" not in schema

    def test_bounds(self):
        """`exclusiveMinimum: true` becomes the number it means."""
        draft = "http://json-schema.org/draft-04/schema#"
        bound = {"type": "number", "minimum": 3, "exclusiveMinimum": True}
        tool = taking({"n": bound}, **{"$schema": draft})
        schema = to_anthropic(tool)["input_schema"]
        assert schema["properties"]["n"] == {"type": "number", "exclusiveMinimum": 3}


class TestReport:
    """The report is for people."""

    def test_unchanged(self):
        """Nothing changed is said too."""
        assert str(format_report(GREP, "mcp")) == "grep for mcp: unchanged"

    def test_lines(self):
        """Each change is a line with its place."""
        tool = taking({"url": {"type": "string", "format": "uri"}})
        assert "\n- url: " in str(format_report(tool, "gemini"))

    def test_unknown_provider(self):
        """There are five providers."""
        with pytest.raises(ValueError, match=r"'claude'.*anthropic"):
            format_report(GREP, "claude")

    def test_tool_unharmed(self):
        """Exports are the caller's own: changing one changes nothing else."""
        for provider in WIRES:
            to_format(GREP, provider).clear()
            schema = parameters(GREP, provider)
            schema["properties"]["pattern"]["description"] = "changed"
            assert parameters(GREP, provider)["properties"]["pattern"]["description"] != ("changed")


class TestNative:
    """Actions written in Python lose nothing either."""

    def test_everything(self):
        """Nested objects, choices, maps and limits come through every format."""

        class Deep(Action):
            mode: Literal["a", "b"] = "a"
            inner: dict[str, list[int]] = Field(default_factory=dict, description="Sums.")
            pair: tuple[int, str] | None = None

        tool = ToolDefinition(name="deep", description="Go deep.", action_type=Deep)
        for provider in WIRES:
            written = json.dumps(to_format(tool, provider), allow_nan=False)
            assert all(word in written for word in ("Sums.", "pair", '"b"'))
        sdk("google.genai.types").FunctionDeclaration.model_validate(to_gemini(tool))
