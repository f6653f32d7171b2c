"""Send the answers to calls that a model wrote as text.

A provider does not know such a call and refuses a tool result for it. So the answer is sent as a
text of the user.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.models.protocol import Messages
from toolbench.llm.providers import Provider


def answerable(messages: Messages, provider: Provider) -> Iterator[Mapping[str, Any]]:
    """Yield *messages*. A result of a call becomes a text if the model did not send this call before."""
    sent: set[Any] = set()
    for message in messages:
        if message.get("role") in ("assistant", "model"):
            ids = _call_ids(message, provider)
            sent = sent | ids if provider == "responses" else ids
        yield _as_text(message, provider, sent)


def _call_ids(message: Mapping[str, Any], provider: Provider) -> set[Any]:
    match provider:
        case "anthropic":
            return {block.get("id") for block in _blocks(message.get("content"))}
        case "gemini":
            calls = [part.get("functionCall") for part in _blocks(message.get("parts"))]
            return {call.get("name") for call in calls if call}
        case "responses":
            return {item.get("call_id") for item in _blocks(message.get("output"))}
    return {call.get("id") for call in _blocks(message.get("tool_calls"))}


def _as_text(message: Mapping[str, Any], provider: Provider, sent: set[Any]) -> Mapping[str, Any]:
    match provider:
        case "anthropic":
            blocks = message.get("content")
            if isinstance(blocks, list):
                return {**message, "content": [_claude(b, sent) for b in blocks]}
        case "gemini" if isinstance(message.get("parts"), list):
            return {**message, "parts": [_gemini(p, sent) for p in message["parts"]]}
        case "responses":
            is_output = message.get("type") == "function_call_output"
            if is_output and message.get("call_id") not in sent:
                return _turn(message.get("output"))
        case "openai":
            if message.get("role") == "tool" and message.get("tool_call_id") not in sent:
                return _turn(message.get("content"))
    return message


def _blocks(value: Any) -> list[Mapping[str, Any]]:
    return [b for b in value if isinstance(b, Mapping)] if isinstance(value, list) else []


def _claude(block: Any, sent: set[Any]) -> Any:
    if block.get("type") != "tool_result" or block.get("tool_use_id") in sent:
        return block
    return {"type": "text", "text": _content_text(block.get("content"))}


def _gemini(part: Any, sent: set[Any]) -> Any:
    result = part.get("functionResponse")
    if not result or result.get("name") in sent:
        return part
    return {"text": _content_text(next(iter((result.get("response") or {}).values()), ""))}


def _turn(content: Any) -> Json:
    return {"role": "user", "content": _content_text(content)}


def _content_text(content: Any) -> str:
    text = content if isinstance(content, str) else ""
    text = text or "\n".join(str(b.get("text", "[an image]")) for b in _blocks(content))
    return f"<tool_response>\n{text}\n</tool_response>"
