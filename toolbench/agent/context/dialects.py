"""Write a model's messages in another provider's dialect, and add missing ids."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.payloads import PAYLOADS
from toolbench.llm.providers import Provider


def assistant_message(text: str, calls: Sequence[ToolCall], provider: Provider) -> Json:
    """Rebuild a message of the model from its text and its calls.

    So a conversation can go on with a model of another provider.
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
    """Return *message* with *ids* for its calls, in order.

    Some servers send no id, or number the calls of every message from 0.
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
    return (
        {**message, where: [*map(numbered, parts)]}
        if isinstance(parts, list)
        else message
    )
