"""A value as each provider's call, and back: the same value."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_llm.recorded import FIRST
from test_llm.samples import (
    GREP,
    foreign,
    sdk,
    taking,
)
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.compose import (
    as_anthropic_call,
    as_gemini_call,
    as_mcp_call,
    as_openai_call,
    as_responses_call,
)
from toolbench.llm.formats import to_gemini

PAYLOADS = {
    "openai": as_openai_call,
    "responses": as_responses_call,
    "anthropic": as_anthropic_call,
    "gemini": as_gemini_call,
    "mcp": as_mcp_call,
}


@pytest.fixture(scope="module")
def sampled(real_tools, valid_values):
    """Each tool of the corpus with the values that we see it accept."""
    return [
        (tool, [value for _, value in values if not tool.problems(value)])
        for tool, values in zip(real_tools, valid_values, strict=True)
    ]


class TestProvidersTypes:
    """Each payload is what the provider's SDK says a call is."""

    def test_openai(self):
        """An entry of `tool_calls`."""
        kind = sdk("openai.types.chat").ChatCompletionMessageFunctionToolCall
        call = kind.model_validate(as_openai_call(GREP, FIRST))
        assert json.loads(call.function.arguments) == FIRST

    def test_responses(self):
        """An output item."""
        kind = sdk("openai.types.responses").ResponseFunctionToolCall
        call = kind.model_validate(as_responses_call(GREP, FIRST))
        assert json.loads(call.arguments) == FIRST

    def test_anthropic(self):
        """A content block."""
        kind = sdk("anthropic.types").ToolUseBlock
        assert kind.model_validate(as_anthropic_call(GREP, FIRST)).input == FIRST

    def test_gemini(self):
        """A part."""
        kind = sdk("google.genai.types").Part
        assert kind.model_validate(as_gemini_call(GREP, FIRST)).function_call.args == FIRST

    def test_mcp(self):
        """A request."""
        kind = sdk("mcp.types").CallToolRequest
        payload = as_mcp_call(GREP, FIRST)
        request = kind.model_validate({k: payload[k] for k in ("method", "params")})
        assert request.params.arguments == FIRST


class TestIds:
    """The id of a call that nobody sent."""

    @pytest.mark.parametrize("make", PAYLOADS.values(), ids=PAYLOADS)
    def test_same(self, make):
        """The same call has the same id, another has another."""

        def id_of(arguments):
            return parse_tool_calls(make(GREP, arguments), [GREP])[0].id

        assert id_of(FIRST) == id_of(dict(reversed(FIRST.items())))
        # A Gemini call needs none
        if make is not as_gemini_call:
            assert id_of(FIRST) != id_of({"pattern": "other"})

    @pytest.mark.parametrize("make", PAYLOADS.values(), ids=PAYLOADS)
    def test_given(self, make):
        """An id can be given, and comes back."""
        (call,) = parse_tool_calls(make(GREP, FIRST, id="mine"), [GREP])
        assert call.id == "mine"


class TestNames:
    """Stand-ins for names lead back to the names."""

    @pytest.mark.parametrize("make", PAYLOADS.values(), ids=PAYLOADS)
    def test_round(self, make):
        """Odd names of tools and arguments, outside and inside, come back as they were."""
        inner = {"type": "object", "properties": {"@id": {"type": "integer"}}}
        schema = {
            "type": "object",
            "properties": {"$top": {"type": "integer"}, "in": inner},
        }
        tool = foreign(schema, "odata.query/list")
        value = {"$top": 3, "in": {"@id": 4}}
        (call,) = parse_tool_calls(make(tool, value), [tool])
        assert call.tool is tool
        assert call.arguments == value
        assert call.repairs == ()

    def test_sent(self):
        """Under way the stand-ins are used."""
        tool = taking({"$top": {"type": "integer"}})
        assert "$top" not in as_anthropic_call(tool, {"$top": 3})["input"]
        assert "$top" in as_mcp_call(tool, {"$top": 3})["params"]["arguments"]

    def test_sent_inside(self):
        """Gemini's rule holds inside too, Anthropic's at the outside only."""
        inner = {"type": "object", "properties": {"@id": {"type": "integer"}}}
        tool, value = taking({"in": inner}), {"in": {"@id": 4}}
        assert "@id" not in as_gemini_call(tool, value)["functionCall"]["args"]["in"]
        assert "@id" in as_anthropic_call(tool, value)["input"]["in"]
        properties = to_gemini(tool)["parameters"]["properties"]["in"]["properties"]
        sent = as_gemini_call(tool, value)["functionCall"]["args"]["in"]
        assert sent.keys() == properties.keys()

    def test_unharmed(self):
        """The value that was given is left as it was."""
        tool = taking({"$top": {"type": "integer"}})
        value = {"$top": 3}
        for make in PAYLOADS.values():
            make(tool, value)
        assert value == {"$top": 3}


class TestRealTools:
    """For every published tool: value -> payload -> parse -> the same value."""

    @pytest.mark.parametrize("provider", PAYLOADS)
    def test_every_tool(self, provider, sampled):
        """One value of each, through each provider."""
        make = PAYLOADS[provider]
        for tool, values in sampled:
            for value in values[1:2]:
                (call,) = parse_tool_calls(make(tool, value), [tool])
                assert call.error is None, (tool.name, str(call.error))
                assert call.arguments == value
                assert call.action.to_arguments() == value
                assert call.repairs == ()

    @given(provider=st.sampled_from(sorted(PAYLOADS)), random=st.randoms())
    def test_any_value(self, provider, random: Random, sampled):
        """Any sampled value of any tool, as text, among other tools."""
        (tool, values), *more = random.sample(sampled, 6)
        others = [other for other, _ in more if other.name != tool.name]
        for value in values:
            payload = PAYLOADS[provider](tool, value, id="x")
            (call,) = parse_tool_calls(json.dumps(payload), [*others, tool])
            assert (call.tool, call.id) == (tool, "x")
            assert call.arguments == value
            assert json.dumps(call.action.to_arguments()) == json.dumps(value)
