"""Write messages of a model in the format (dialect) of another provider, and set the ids of calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.payloads import PAYLOADS
from toolbench.llm.providers import Provider


def assistant_message(text: str, calls: Sequence[ToolCall], provider: Provider) -> Json:
    """Make the message, in *provider*'s format, with which a model gives *text* and *calls*.

    With it, a conversation can go on with a model of another provider.
    """
    sent = [_call(call, provider) for call in calls]
    match provider:
        case "anthropic":
            texts = [{"type": "text", "text": text}] if text else []
            return {"role": "assistant", "content": [*texts, *sent]}
        case "gemini":
            parts = [{"text": text}] if text else []
            return {"role": "model", "parts": [*parts, *sent]}
        case "responses":
            part = {"type": "output_text", "text": text, "annotations": []}
            item = {"type": "message", "role": "assistant", "content": [part]}
            return {
                "role": "assistant",
                "output": [*([item] if text else []), *sent],
            }
    message: Json = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": sent} if sent else {})


def _call(call: ToolCall, provider: Provider) -> Json:
    unknown = call.metadata.sent_name or call.name or "unknown"
    tool = call.tool if call.tool is not None else ToolDefinition(name=unknown)
    return PAYLOADS[provider](tool, call.arguments, id=call.id)


def with_ids(message: Json, ids: Sequence[str], provider: Provider) -> Json:
    """Return *message*, but its calls have the ids *ids*, in order.

    This is needed because some servers send no ids, or count the calls of each message from 0.
    """
    places = {
        "openai": ("tool_calls", "id", None),
        "anthropic": ("content", "id", "tool_use"),
        "responses": ("output", "call_id", "function_call"),
    }
    if provider not in places or not ids:
        return message
    where, key, kind = places[provider]
    left = list(ids)

    def numbered(part: Any) -> Any:
        is_call = isinstance(part, Mapping) and kind in (None, part.get("type"))
        return {**part, key: left.pop(0)} if is_call and left else part

    parts = message.get(where)
    return {**message, where: [*map(numbered, parts)]} if isinstance(parts, list) else message
