"""Write messages, calls and answers to calls in a provider's format, to send, paste or replay."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.message import (
    ImagePart,
    Message,
    Part,
    Provider,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolbench.llm.wire import WIRES, wire_of

if TYPE_CHECKING:
    from toolbench.llm.calls.tool_call import ToolCall

AnyTool = ToolDefinition[Any, Any]
LONGEST_TEXT = 100_000
"""The maximum characters of text in an answer (about 25,000 tokens); the middle is cut out."""
LARGEST_IMAGE = 5_000_000
"""The maximum characters of an image's `data:` URL; a note replaces larger images."""


def system_message(text: str, provider: Provider = "openai") -> Json:
    """Return a message that gives the model *text* as its instructions.

    The role of the message is always "system". Anthropic and Gemini expect instructions in a
    separate field of the request, so the models of `toolbench.llm.models` move the text there.

    Examples:
        >>> from toolbench.llm import ScriptedModel, system_message, user_message
        >>> model = ScriptedModel(["Ahoy!"])
        >>> model.complete([system_message("Talk like a pirate."), user_message("Hello")]).text
        'Ahoy!'
    """
    return _written(Message("system", (TextPart(text),)), provider)


def user_message(content: str | Content | Sequence[Content], provider: Provider = "openai") -> Json:
    """Return a message of the user that contains *content*: text, images or both.

    Args:
        content: A string, a content block, or several blocks. Images are `data:` or `https:` URLs.
        provider: The provider whose format the message has.

    Examples:
        >>> from toolbench import ImageContent, TextContent
        >>> from toolbench.llm import user_message
        >>> user_message("What is on the picture?", "gemini")
        {'role': 'user', 'parts': [{'text': 'What is on the picture?'}]}
        >>> picture = ImageContent(image_urls=["https://example.com/cat.png"])
        >>> message = user_message([TextContent(text="What is this?"), picture])
        >>> [part["type"] for part in message["content"]]
        ['text', 'image_url']
    """
    if isinstance(content, str):
        return _written(Message("user", (TextPart(content),)), provider)
    if isinstance(content, TextContent | ImageContent):
        content = [content]
    return _written(Message("user", tuple(user_parts(content))), provider)


def user_parts(content: Iterable[Content]) -> list[Part]:
    """Return the blocks of *content* as parts of a message; empty text is left out."""
    parts: list[Part] = []
    for block in content:
        if isinstance(block, ImageContent):
            parts += [ImagePart(url) for url in block.image_urls]
        elif block.text:
            parts.append(TextPart(block.text))
    return parts


def model_message(
    text: str, calls: Sequence[ToolCallPart] = (), provider: Provider = "openai"
) -> Json:
    """Return the message that a model sends if it says *text* and makes *calls*."""
    parts: list[Part] = []
    if text or not calls:
        parts.append(TextPart(text))
    return _written(Message("assistant", (*parts, *calls)), provider)


def as_openai_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return a call of *tool* with *arguments* as an entry of a chat message's `tool_calls`.

    Args:
        tool: The tool that is called.
        arguments: The arguments as JSON values, under the names that the tool declares.
        id: The id of the call; by default, it is derived from the tool's name and the arguments.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_openai_call
        >>> @tool
        ... def split_bill(total: float, people: int) -> float:
        ...     "Split a bill evenly."
        ...     return total / people
        >>> call = as_openai_call(split_bill, {"total": 84, "people": 4}, id="call_1")
        >>> call["function"]
        {'name': 'split_bill', 'arguments': '{"total":84,"people":4}'}
    """
    return as_call(tool, arguments, "openai", id=id)


def as_responses_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return a call of *tool* as an `output` item of the Responses API; see `as_openai_call`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_responses_call
        >>> @tool
        ... def remind(text: str, minutes: int) -> str:
        ...     "Set a reminder."
        ...     return "set"
        >>> as_responses_call(remind, {"text": "tea", "minutes": 4}, id="fc_1")["arguments"]
        '{"text":"tea","minutes":4}'
    """
    return as_call(tool, arguments, "responses", id=id)


def as_anthropic_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return a call of *tool* as a `tool_use` block for Anthropic; see `as_openai_call`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_anthropic_call
        >>> @tool
        ... def stock(sku: int) -> int:
        ...     "Count the items in stock."
        ...     return 7
        >>> as_anthropic_call(stock, {"sku": 12}, id="toolu_1")
        {'type': 'tool_use', 'id': 'toolu_1', 'name': 'stock', 'input': {'sku': 12}}
    """
    return as_call(tool, arguments, "anthropic", id=id)


def as_gemini_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return a call of *tool* as a `functionCall` part for Gemini; see `as_openai_call`.

    If *id* is left out, the part has no id.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_gemini_call
        >>> @tool
        ... def translate(text: str, to: str) -> str:
        ...     "Translate a text."
        ...     return text
        >>> as_gemini_call(translate, {"text": "Hello", "to": "fr"})
        {'functionCall': {'name': 'translate', 'args': {'text': 'Hello', 'to': 'fr'}}}
    """
    return as_call(tool, arguments, "gemini", id=id)


def as_mcp_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return a call of *tool* as a `tools/call` request of MCP; see `as_openai_call`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_mcp_call
        >>> @tool
        ... def convert(amount: float, currency: str) -> float:
        ...     "Convert euros to another currency."
        ...     return amount * 1.1
        >>> request = as_mcp_call(convert, {"amount": 20, "currency": "USD"}, id="1")
        >>> request["method"], request["params"]
        ('tools/call', {'name': 'convert', 'arguments': {'amount': 20, 'currency': 'USD'}})
    """
    return as_call(tool, arguments, "mcp", id=id)


def as_call(
    tool: AnyTool, arguments: Mapping[str, Any], provider: Provider, *, id: str | None = None
) -> Json:
    """Return the call in the format of *provider*; see `as_openai_call`."""
    return WIRES[provider].write_call(call_part(tool, arguments, provider, id=id))


def call_part(
    tool: AnyTool, arguments: Mapping[str, Any], provider: Provider, *, id: str | None = None
) -> ToolCallPart:
    """Return a call of *tool* under the names that *provider* accepts; see `as_openai_call`."""
    wire = WIRES[provider]
    if id is None and wire.call_prefix is not None:
        # From the content: equal calls have equal ids and can be compared
        content = json.dumps([tool.name, arguments], sort_keys=True)
        id = wire.call_prefix + sha256(content.encode()).hexdigest()[:24]
    sent = wire.arguments(wire.to_provider(dict(arguments), tool))
    return ToolCallPart(wire.tool_name(tool.name), sent, id)


def _written(message: Message, provider: Provider) -> Json:
    [written] = wire_of(provider).write(message)
    return written


# --- the answers to calls -----------------------------------------------------------


def respond(
    call: "ToolCall",
    observation: Observation | None = None,
    *,
    limit: int = LONGEST_TEXT,
) -> Json:
    """Return the message that answers *call*, in its provider's format.

    Args:
        call: The call to answer.
        observation: The result of the call. It may be left out if the call has an `error`, because
            the error is then the answer.
        limit: The maximum number of characters of text in the message. If the text is longer, a
            note replaces its middle.

    Raises:
        ValueError: If the call has neither an error nor an observation.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_openai_call, parse_tool_calls, respond
        >>> @tool
        ... def capital(country: str) -> str:
        ...     "The capital of a country."
        ...     return "Oslo"
        >>> message = as_openai_call(capital, {"country": "Norway"}, id="call_1")
        >>> [call] = parse_tool_calls(message, [capital])
        >>> respond(call, call.run())
        {'role': 'tool', 'tool_call_id': 'call_1', 'content': 'Oslo'}
    """
    answer = Message("tool", (result_part(call, observation, limit=limit),))
    return WIRES[call.metadata.provider].write(answer)[0]


def respond_all(
    answers: "Sequence[tuple[ToolCall, Observation | None]]",
    *,
    limit: int = LONGEST_TEXT,
) -> list[Json]:
    """Return the messages that answer all calls of one message, in the order of *answers*.

    Anthropic and Gemini require that one message answers all calls, so the list has only one
    message. OpenAI's chat completions do not accept images in an answer, so a user message with the
    images follows the answers.

    Args:
        answers: Pairs of a call and its observation. The observation may be None if the call has
            an `error`.
        limit: The maximum number of characters of text in each answer.

    Raises:
        ValueError: If a call has neither an error nor an observation.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_anthropic_call, parse_tool_calls, respond_all
        >>> @tool
        ... def square(x: int) -> int:
        ...     "Square a number."
        ...     return x * x
        >>> blocks = [as_anthropic_call(square, {"x": x}, id=f"toolu_{x}") for x in (2, 3)]
        >>> calls = parse_tool_calls({"role": "assistant", "content": blocks}, [square])
        >>> [message] = respond_all([(call, call.run()) for call in calls])
        >>> message["role"], [block["tool_use_id"] for block in message["content"]]
        ('user', ['toolu_2', 'toolu_3'])
    """
    if not answers:
        return []
    results = tuple(result_part(call, result, limit=limit) for call, result in answers)
    return WIRES[answers[0][0].metadata.provider].write(Message("tool", results))


def result_part(
    call: "ToolCall", observation: Observation | None = None, *, limit: int = LONGEST_TEXT
) -> ToolResultPart:
    """Return the answer to *call* as a part of a message; see `respond`.

    Raises:
        ValueError: If the call has neither an error nor an observation.
    """
    result = observation
    if result is None:
        result = call.observation
    if result is None:
        msg = f"The call of {call.name!r} has no error: run it and give its observation."
        raise ValueError(msg)
    content = tuple(_parts(result.to_llm_content, limit))
    return ToolResultPart(call.id, call.metadata.sent_name, content, result.is_error)


def _parts(content: Sequence[Content], limit: int) -> list[TextPart | ImagePart]:
    parts: list[TextPart | ImagePart] = []
    left = limit
    for block in content:
        if isinstance(block, TextContent):
            text = _cut(block.text, left)
            left = max(0, left - len(text))
            parts.append(TextPart(text))
        if isinstance(block, ImageContent):
            parts += [_image(url) for url in block.image_urls]
    return parts


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = len(text) - (limit - head)
    note = f"\n[… {tail - head:,} of {len(text):,} characters left out …]\n"
    return text[:head] + note + text[tail:]


def _image(url: str) -> TextPart | ImagePart:
    if len(url) <= LARGEST_IMAGE:
        return ImagePart(url)
    return TextPart(f"[an image of {len(url):,} characters was left out: too large]")
