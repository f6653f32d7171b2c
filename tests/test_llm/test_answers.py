"""What a model is told after its call, in its provider's own shape."""

import pytest

from test_llm.recorded import MESSAGES
from test_llm.samples import GREP, WRITE, conforms, sdk
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.llm.calls import parse_tool_calls, respond
from toolbench.llm.compose import LARGEST_IMAGE, LONGEST_TEXT

PIXEL = "data:image/png;base64,iVBORw0KGgo="
LINK = "https://example.org/cat.png"
TEXT_RESULT = Observation.from_text("3 matches")
IMAGE_RESULT = Observation(
    content=[
        TextContent(text="A cat:"),
        ImageContent(image_urls=[PIXEL, LINK]),
        TextContent(text="That was it."),
    ]
)
FAILED = Observation.from_text("No such folder", is_error=True)
PROVIDERS = [*MESSAGES, "mcp"]


def call_of(provider):
    """The first call of the recorded message of *provider*."""
    if provider == "mcp":
        params = {"name": "grep", "arguments": {"pattern": "x"}}
        message = {"id": 7, "method": "tools/call", "params": params}
    else:
        message = MESSAGES[provider]
    return parse_tool_calls(message, [GREP, WRITE])[0]


def kind_of(provider):
    """The SDK's type of an answer."""
    if provider == "openai":
        return sdk("openai.types.chat").ChatCompletionToolMessageParam
    if provider == "responses":
        return sdk("openai.types.responses.response_input_item_param").FunctionCallOutput
    if provider == "anthropic":
        return sdk("anthropic.types").MessageParam
    if provider == "gemini":
        return sdk("google.genai.types").ContentDict
    return sdk("mcp.types").CallToolResult


class TestProvidersTypes:
    """Each answer is what the provider's SDK says an answer is."""

    @pytest.mark.parametrize(
        "observation",
        [TEXT_RESULT, IMAGE_RESULT, FAILED],
        ids=["text", "image", "error"],
    )
    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic"])
    def test_typed(self, provider, observation):
        """Nothing in it that the SDK does not know."""
        assert conforms(kind_of(provider), respond(call_of(provider), observation))

    @pytest.mark.parametrize(
        "observation",
        [TEXT_RESULT, IMAGE_RESULT, FAILED],
        ids=["text", "image", "error"],
    )
    def test_gemini(self, observation):
        """A content with a function response."""
        kind = sdk("google.genai.types").Content
        content = kind.model_validate(respond(call_of("gemini"), observation))
        assert content.parts[0].function_response.id == "call_1"

    @pytest.mark.parametrize(
        "observation",
        [TEXT_RESULT, IMAGE_RESULT, FAILED],
        ids=["text", "image", "error"],
    )
    def test_mcp(self, observation):
        """The result of a call."""
        kind = sdk("mcp.types").CallToolResult
        result = kind.model_validate(respond(call_of("mcp"), observation))
        assert result.content
        assert result.is_error == observation.is_error


class TestContent:
    """What the model reads."""

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_text(self, provider):
        """The text is there, with the id of the call."""
        answer = str(respond(call_of(provider), TEXT_RESULT))
        assert "3 matches" in answer
        assert provider == "mcp" or "call_1" in answer

    @pytest.mark.parametrize("provider", ["responses", "anthropic", "gemini", "mcp"])
    def test_image(self, provider):
        """An image is an image."""
        assert "iVBORw0KGgo=" in str(respond(call_of(provider), IMAGE_RESULT))

    def test_image_in_chat(self):
        """A tool message of chat completions takes no image: it is named."""
        answer = respond(call_of("openai"), IMAGE_RESULT)
        assert answer["content"] == f"A cat:\n[image: image/png]\n[image: {LINK}]\nThat was it."

    def test_linked_image(self):
        """An image elsewhere is linked where that can be done, named where not."""
        source = respond(call_of("anthropic"), IMAGE_RESULT)["content"][0]["content"][2]["source"]
        assert source == {"type": "url", "url": LINK}
        response = respond(call_of("gemini"), IMAGE_RESULT)["parts"][0]["functionResponse"]
        assert LINK in response["response"]["output"]
        assert len(response["parts"]) == 1

    def test_empty(self):
        """An empty observation is an answer too; Anthropic refuses an empty text."""
        nothing = Observation()
        for provider in PROVIDERS:
            respond(call_of(provider), nothing)
        result = respond(call_of("anthropic"), Observation.from_text(" "))["content"][0]
        assert "content" not in result


class TestFailure:
    """That it failed is said where the provider has a place for it, and in the text."""

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_header(self, provider):
        """The text begins with the header of the observation."""
        answer = str(respond(call_of(provider), FAILED))
        assert Observation.ERROR_MESSAGE_HEADER.strip() in answer
        assert "No such folder" in answer

    def test_flags(self):
        """Anthropic, Gemini and MCP have a flag."""
        assert respond(call_of("anthropic"), FAILED)["content"][0]["is_error"] is True
        response = respond(call_of("gemini"), FAILED)["parts"][0]["functionResponse"]
        assert response["response"].keys() == {"error"}
        assert respond(call_of("mcp"), FAILED)["isError"] is True

    def test_flag_only_then(self):
        """A success has none."""
        assert "is_error" not in respond(call_of("anthropic"), TEXT_RESULT)["content"][0]
        assert respond(call_of("mcp"), TEXT_RESULT)["isError"] is False


class TestErrors:
    """A call that could not be run is answered with its error."""

    @pytest.mark.parametrize("name", ["grep", "nope"])
    def test_told(self, name):
        """Nothing else is needed."""
        message = {"type": "tool_use", "id": "x", "name": name, "input": {}}
        (call,) = parse_tool_calls(message, [GREP])
        result = respond(call)["content"][0]
        assert result["is_error"] is True
        assert str(call.error) in result["content"][1]["text"]

    def test_ready(self):
        """A call that could run needs its observation."""
        with pytest.raises(ValueError, match="has no error: run it"):
            respond(call_of("openai"))

    def test_name_as_sent(self):
        """Gemini is answered under the name it used."""
        part = {"functionCall": {"name": "functions.grep", "args": {"pattern": "x"}}}
        (call,) = parse_tool_calls(part, [GREP])
        response = respond(call, TEXT_RESULT)["parts"][0]["functionResponse"]
        assert response["name"] == "functions.grep"
        assert "id" not in response


class TestSize:
    """What is too long loses its middle, and a note says so."""

    def test_short(self):
        """What fits is not touched."""
        text = "x" * LONGEST_TEXT
        answer = respond(call_of("openai"), Observation.from_text(text))
        assert answer["content"] == text

    def test_long(self):
        """The beginning and the end stay."""
        text = "begin" + "x" * LONGEST_TEXT + "end"
        content = respond(call_of("openai"), Observation.from_text(text))["content"]
        assert content.startswith("begin")
        assert content.endswith("end")
        assert "[… 8 of 100,008 characters left out …]" in content
        assert len(content) < LONGEST_TEXT + 100

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_limit(self, provider):
        """The limit can be chosen, and holds for all blocks together."""
        content = [TextContent(text="y" * 1_000) for _ in range(50)]
        answer = respond(call_of(provider), Observation(content=content), limit=300)
        assert len(str(answer)) < 8_000
        assert "left out" in str(answer)

    def test_image(self):
        """An image that is too large is named."""
        url = "data:image/png;base64," + "A" * LARGEST_IMAGE
        observation = Observation(content=[ImageContent(image_urls=[url])])
        answer = str(respond(call_of("anthropic"), observation))
        assert "too large" in answer
        assert len(answer) < 1_000
