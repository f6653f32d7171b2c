"""Write a call of a tool in each provider's format, ready to paste or replay."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.formats.argument_names import to_provider
from toolbench.llm.providers import Provider, tool_name

AnyTool = ToolDefinition[Any, Any]


def as_openai_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return a call of *tool* with *arguments* as an entry of a chat message's `tool_calls`.

    Args:
        tool: The tool that is called.
        arguments: JSON values under the tool's own names.
        id: The id of the call; if left out, it is made from the content.
    """
    return {
        "id": id or _id("call_", tool, arguments),
        "type": "function",
        "function": {
            "name": tool_name(tool.name, "openai"),
            "arguments": _text(to_provider(arguments, tool, "openai")),
        },
    }


def as_responses_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return the call as an item of the Responses API's `output`; see `as_openai_call`."""
    return {
        "type": "function_call",
        "call_id": id or _id("call_", tool, arguments),
        "name": tool_name(tool.name, "responses"),
        "arguments": _text(to_provider(arguments, tool, "responses")),
    }


def as_anthropic_call(
    tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None
) -> Json:
    """Return the call as a `tool_use` block; see `as_openai_call`."""
    return {
        "type": "tool_use",
        "id": id or _id("toolu_", tool, arguments),
        "name": tool_name(tool.name, "anthropic"),
        "input": to_provider(dict(arguments), tool, "anthropic"),
    }


def as_gemini_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return the call as a `functionCall` part; without *id*, the call has no id."""
    call: Json = {
        "name": tool_name(tool.name, "gemini"),
        "args": to_provider(dict(arguments), tool, "gemini"),
    }
    return {"functionCall": {"id": id, **call} if id else call}


def as_mcp_call(tool: AnyTool, arguments: Mapping[str, Any], *, id: str | None = None) -> Json:
    """Return the call as MCP's `tools/call` request; see `as_openai_call`."""
    return {
        "jsonrpc": "2.0",
        "id": id or _id("", tool, arguments),
        "method": "tools/call",
        "params": {"name": tool.name, "arguments": dict(arguments)},
    }


PAYLOADS: Mapping[Provider, Callable[..., Json]] = {
    "openai": as_openai_call,
    "responses": as_responses_call,
    "anthropic": as_anthropic_call,
    "gemini": as_gemini_call,
    "mcp": as_mcp_call,
}
"""The function that writes a call for each provider."""


def _text(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _id(prefix: str, tool: AnyTool, arguments: Mapping[str, Any]) -> str:
    """Make an id from the content: equal calls have equal ids and can be compared."""
    text = json.dumps([tool.name, arguments], sort_keys=True)
    return prefix + sha256(text.encode()).hexdigest()[:24]
