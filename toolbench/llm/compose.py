"""Write messages and calls in a provider's format, ready to send, paste or replay."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import to_provider
from toolbench.llm.message import ImagePart, Message, Part, TextPart, ToolCallPart
from toolbench.llm.providers import Provider, tool_name
from toolbench.llm.wire import WIRES

AnyTool = ToolDefinition[Any, Any]


def system_message(text: str, provider: Provider = "openai") -> Json:
    """Return *text* as instructions to the model.

    The role is "system" in every format. Anthropic and Gemini take instructions outside the
    messages; the models of `toolbench.llm.models` send them there.
    """
    return _written(Message("system", (TextPart(text),)), provider)


def user_message(content: str | Content | Sequence[Content], provider: Provider = "openai") -> Json:
    """Return *content*, text and images, as a message of the user.

    Args:
        content: A string, a block, or several; images as `data:` or `https:` URLs.
        provider: The provider whose format the message has.
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
    """Return the message with which a model says *text* and makes *calls*."""
    parts: list[Part] = []
    if text or not calls:
        parts.append(TextPart(text))
    return _written(Message("assistant", (*parts, *calls)), provider)


def as_openai_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return a call of *tool* with *arguments* as an entry of a chat message's `tool_calls`.

    Args:
        tool: The tool that is called.
        arguments: JSON values under the tool's own names.
        id: The id of the call; if left out, it is made from the content.
    """
    return as_call(tool, arguments, "openai", id=id)


def as_responses_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return the call as an item of the Responses API's `output`; see `as_openai_call`."""
    return as_call(tool, arguments, "responses", id=id)


def as_anthropic_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return the call as a `tool_use` block; see `as_openai_call`."""
    return as_call(tool, arguments, "anthropic", id=id)


def as_gemini_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return the call as a `functionCall` part; without *id*, the call has no id."""
    return as_call(tool, arguments, "gemini", id=id)


def as_mcp_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return the call as MCP's `tools/call` request; see `as_openai_call`."""
    return as_call(tool, arguments, "mcp", id=id)


def as_call(
    tool: AnyTool, arguments: Mapping[str, Any], provider: Provider, *, id: str | None = None
) -> Json:
    """Return the call in the format of *provider*; see `as_openai_call`."""
    return WIRES[provider].write_call(call_part(tool, arguments, provider, id=id))


def call_part(
    tool: AnyTool, arguments: Mapping[str, Any], provider: Provider, *, id: str | None = None
) -> ToolCallPart:
    """Return the call of *tool* with the names that *provider* knows; see `as_openai_call`."""
    wire = WIRES[provider]
    if id is None and wire.call_prefix is not None:
        # From the content: equal calls have equal ids and can be compared
        content = json.dumps([tool.name, arguments], sort_keys=True)
        id = wire.call_prefix + sha256(content.encode()).hexdigest()[:24]
    sent = wire.arguments(to_provider(dict(arguments), tool, provider))
    return ToolCallPart(tool_name(tool.name, provider), sent, id)


def _written(message: Message, provider: Provider) -> Json:
    [written] = WIRES[provider].write(message)
    return written
