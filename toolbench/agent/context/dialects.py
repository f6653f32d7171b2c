"""Messages of a model in the words of another provider, and with ids where they have none."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.payloads import PAYLOADS
from toolbench.llm.providers import Provider


def assistant_message(text: str, calls: Sequence[ToolCall], provider: Provider) -> Json:
    """Return a message of the model, rebuilt from what is known of it.

    So a conversation goes on with a model of another provider than the one that wrote it.
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
    """Return *message*, its calls under *ids*, in their order.

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
