"""What each provider is told of a tool: taken by its own types, and every loss reported."""

import json
from typing import Literal

import jsonschema_rs
import pytest
from pydantic import Field

from test_llm.samples import (
    GREP,
    WRITE,
    conforms,
    corpus,
    foreign,
    needs_corpus,
    sdk,
    taking,
)
from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.llm.formats import (
    FORMATS,
    SHORT_DESCRIPTION,
    format_report,
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_responses,
)
from toolbench.llm.schemas import every

RISKS = ["UNKNOWN", "LOW", "MEDIUM", "HIGH"]


def parameters(tool, provider):
    """The schema *provider* is given."""
    given = FORMATS[provider](tool)
    return (given.get("function") or given).get(
        {"anthropic": "input_schema", "mcp": "inputSchema"}.get(provider, "parameters")
    )


def bare(schema):
    """*schema* without the empty lists and objects that say nothing."""
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: bare(v) for k, v in schema.items() if v not in ([], {})}


def changes(tool, provider):
    """What the report says, by place."""
    return {c.where: c for c in format_report(tool, provider).changes}


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


@needs_corpus
class TestRealTools:
    """2,132 published tools, and what each provider is known to turn down."""

    def test_openai(self):
        """The arguments are an object without alternatives at its top; lists have items."""
        for tool in corpus():
            function = to_openai(tool)["function"]
            schema = function["parameters"]
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "enum"}
            assert len(function["name"]) <= 64
            assert len(function["description"]) <= SHORT_DESCRIPTION
            assert all(
                "items" in n for _, n in every(schema) if n.get("type") == "array"
            )

    def test_anthropic(self):
        """The schema is a valid one of draft 2020-12."""
        for tool in corpus():
            schema = to_anthropic(tool)["input_schema"]
            jsonschema_rs.meta.validate(
                {k: v for k, v in schema.items() if k != "$schema"}
            )
            assert not schema.keys() & {"anyOf", "oneOf", "allOf"}

    def test_gemini(self):
        """Every keyword is one of Gemini's, and the SDK takes the whole."""
        types = sdk("google.genai.types")
        for tool in corpus():
            declared = types.FunctionDeclaration.model_validate(to_gemini(tool))
            assert declared.name

    def test_mcp(self):
        """MCP takes what was published, unchanged."""
        for tool in corpus():
            assert to_mcp(tool)["inputSchema"] == tool.action_type.foreign_schema
            assert format_report(tool, "mcp").changes == ()

    def test_reported(self):
        """A schema that is not sent as it is has a report that says so."""
        for tool in corpus():
            for provider in ("openai", "anthropic", "gemini"):
                report = format_report(tool, provider)
                asked = bare(tool.action_type.foreign_schema)
                sent = bare(parameters(tool, provider) or {"type": "object"})
                assert sent == asked or report.changes, (tool.name, provider)


class TestQuestions:
    """A model can be asked about the call itself."""

    def test_risk(self):
        """Asked of a tool that changes things, never of a read-only one."""
        asked = to_anthropic(WRITE, security_risk=True)["input_schema"]["properties"]
        spared = to_anthropic(GREP, security_risk=True)["input_schema"]["properties"]
        assert asked["security_risk"]["enum"] == RISKS
        assert "security_risk" not in spared

    @pytest.mark.parametrize("provider", FORMATS)
    def test_both(self, provider):
        """Every format asks for both."""
        exported = json.dumps(
            FORMATS[provider](WRITE, security_risk=True, summary=True)
        )
        assert '"security_risk"' in exported
        assert '"summary"' in exported


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
            ({"a": {"type": "object"}}, "a: the object does not say what is in it"),
            ({"a": {"type": "array"}}, "a"),
            ({"a": {}}, "a: has no type"),
            ({"a": {"type": "string", "minLength": 1}}, "'minLength' is not supported"),
            ({"a": {"type": "string", "format": "uri"}}, "format 'uri'"),
            ({"a": {"oneOf": [{"type": "string"}]}}, "'oneOf' is not supported"),
            (
                {"a": {"type": "object", "additionalProperties": {"type": "string"}}},
                "a: takes arguments it does not name",
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
        assert "$schema" not in schema

    def test_bounds(self):
        """`exclusiveMinimum: true` becomes the number it means."""
        draft = "http://json-schema.org/draft-04/schema#"
        bound = {"type": "number", "minimum": 3, "exclusiveMinimum": True}
        tool = taking({"n": bound}, **{"$schema": draft})
        schema = to_anthropic(tool)["input_schema"]
        assert schema["properties"]["n"] == {"type": "number", "exclusiveMinimum": 3}


class TestGemini:
    """What Gemini has no word for goes into the description, and into the report."""

    @pytest.mark.parametrize(
        ("schema", "told"),
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
    def test_words(self, schema, told):
        """Each construct has its rewriting; the SDK takes it."""
        tool = taking({"x": schema})
        types = sdk("google.genai.types")
        given = to_gemini(tool)
        types.FunctionDeclaration.model_validate(given)
        if told is not None:
            assert given["parameters"]["properties"]["x"] == told

    def test_defaults_and_formats(self):
        """The seeds' two rules: no default, and no format but the known ones."""
        tool = taking({"url": {"type": "string", "format": "uri", "default": "x"}})
        node = to_gemini(tool)["parameters"]["properties"]["url"]
        assert node.keys() == {"type", "description"}
        told = [str(c) for c in format_report(tool, "gemini").changes]
        assert any("'default'" in line for line in told)
        assert any("'format'" in line for line in told)

    def test_recursion(self):
        """A schema that holds itself is cut where it comes back."""
        node = {
            "type": "object",
            "properties": {
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}
            },
        }
        tool = taking({"tree": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})
        tree = to_gemini(tool)["parameters"]["properties"]["tree"]
        assert tree["properties"]["children"]["items"]["type"] == "object"
        assert changes(tool, "gemini")["tree.children[]"].refused

    def test_nothing_to_give(self):
        """A tool without arguments has no parameters: Gemini refuses an empty object."""
        assert "parameters" not in to_gemini(taking({}))

    def test_unknown_requirements(self):
        """What is required but not declared is not required of Gemini."""
        tool = taking({"a": {"type": "string"}}, "a", "b")
        assert to_gemini(tool)["parameters"]["required"] == ["a"]


class TestNames:
    """Names a provider cannot take have a stand-in, always the same one."""

    @pytest.mark.parametrize(
        "name", ["a.b", "x" * 70, "has space", "ключ", "1c_reload", "$"]
    )
    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
    def test_fit(self, name, provider):
        """The stand-in fits, and is the same each time."""
        given = FORMATS[provider](foreign({"type": "object"}, name))
        sent = (given.get("function") or given)["name"]
        again = FORMATS[provider](foreign({"type": "object"}, name))
        first = "A-Za-z_" if provider == "gemini" else "A-Za-z0-9_-"
        rest = "A-Za-z0-9_.:-" if provider == "gemini" else "A-Za-z0-9_-"
        most = 63 if provider in ("openai", "responses") else 127
        assert jsonschema_rs.is_valid(
            {"pattern": f"^[{first}][{rest}]{{0,{most}}}$"}, sent
        )
        assert (again.get("function") or again)["name"] == sent

    def test_apart(self):
        """Two names that differ only in what is taken out stay two names."""
        names = {
            to_openai(foreign({}, n))["function"]["name"] for n in ("a.b", "a b", "a_b")
        }
        assert len(names) == 3
        assert "a_b" in names

    def test_arguments(self):
        """Arguments get stand-ins where the provider has a rule for them, and are reported."""
        tool = taking(
            {"$filter": {"type": "string"}, "ok": {"type": "string"}}, "$filter"
        )
        claude, gemini = (
            to_anthropic(tool)["input_schema"],
            to_gemini(tool)["parameters"],
        )
        assert claude["required"][0] in claude["properties"]
        assert gemini["required"][0] in gemini["properties"]
        assert "$filter" not in {*claude["properties"], *gemini["properties"]}
        assert changes(tool, "anthropic")["$filter"].kind == "renamed"
        assert "$filter" in parameters(tool, "openai")["properties"]


class TestDescriptions:
    """OpenAI's older models take short descriptions."""

    LONG = "This is a sentence of some length. " * 60

    def test_cut(self):
        """A long one is cut after a sentence, and that is reported."""
        tool = foreign({"type": "object"}, description=self.LONG)
        told = to_openai(tool)["function"]["description"]
        assert len(told) <= SHORT_DESCRIPTION
        assert told.endswith("length. …")
        assert changes(tool, "openai")["description"].kind == "shortened"

    def test_long(self):
        """A model that takes more is given more; others have no limit."""
        tool = foreign({"type": "object"}, description=self.LONG)
        whole = to_openai(tool, longest_description=10_000)["function"]["description"]
        assert whole == self.LONG == to_anthropic(tool)["description"]

    def test_unbroken(self):
        """A description without a full stop is cut all the same."""
        tool = foreign({"type": "object"}, description="x" * 5_000)
        assert len(to_openai(tool)["function"]["description"]) == SHORT_DESCRIPTION


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
        for provider in FORMATS:
            FORMATS[provider](GREP).clear()
            schema = parameters(GREP, provider)
            schema["properties"]["pattern"]["description"] = "changed"
            assert parameters(GREP, provider)["properties"]["pattern"][
                "description"
            ] != ("changed")


class TestNative:
    """Actions written in Python lose nothing either."""

    def test_everything(self):
        """Nested objects, choices, maps and limits come through every format."""

        class Deep(Action):
            mode: Literal["a", "b"] = "a"
            inner: dict[str, list[int]] = Field(
                default_factory=dict, description="Sums."
            )
            pair: tuple[int, str] | None = None

        tool = ToolDefinition(name="deep", description="Go deep.", action_type=Deep)
        for provider in FORMATS:
            json.dumps(FORMATS[provider](tool), allow_nan=False)
        sdk("google.genai.types").FunctionDeclaration.model_validate(to_gemini(tool))
