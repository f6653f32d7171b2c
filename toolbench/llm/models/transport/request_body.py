"""Make the body of a request in the format of each provider's API."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.calls.messages import UNREADABLE
from toolbench.llm.models.message_images import IMAGE
from toolbench.llm.models.protocol import Messages
from toolbench.llm.models.transport.text_answers import answerable
from toolbench.llm.providers import Provider

MOST_TOKENS = 8_192
"""The limit of an answer, in tokens, that Anthropic's API requires; `options` can change it."""


def request_body(
    model: str,
    messages: Messages,
    tools: Sequence[Json],
    provider: Provider,
    options: Mapping[str, Any],
) -> Json:
    """Return the body of a request for the next message. The message will arrive in chunks.

    Args:
        model: The provider's name of the model.
        messages: The conversation in the dialect of *provider*; instructions in the role "system".
        tools: The tools in the provider's format.
        provider: The provider of the API.
        options: Further fields, such as `temperature`; the fields made here have priority.
    """
    messages = list(answerable(messages, provider))
    match provider:
        case "responses":
            return _responses(model, messages, tools, options)
        case "anthropic":
            return _anthropic(model, messages, tools, options)
        case "gemini":
            return _gemini(model, messages, tools, options)
    return _chat(model, messages, tools, options)


def instructions(messages: Messages) -> str:
    """Return the joined texts of the messages with the role "system"."""
    texts = [_words(message) for message in messages if message.get("role") == "system"]
    return "\n\n".join(text for text in texts if text)


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content", message.get("parts"))
    parts = [content] if isinstance(content, str) else content or ()
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in parts)


def _without_none(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {key: value for key, value in part.items() if value is not None}
    return part


def _chat(
    model: str, messages: Messages, tools: Sequence[Json], options: Mapping[str, Any]
) -> Json:
    body: Json = {
        "stream_options": {"include_usage": True},
        **options,
        "model": model,
        "messages": [_chat_turn(message) for message in messages],
        "stream": True,
    }
    return body | ({"tools": list(tools)} if tools else {})


def _chat_turn(message: Mapping[str, Any]) -> Json:
    """Return *message* without the fields that only answers have.

    In a message of the model, a text replaces each image, because only text is accepted
    there.
    """
    turn = dict(message)
    images = turn.pop("images", None)
    if turn.get("role") == "assistant":
        content = turn.get("content")
        # Only text is accepted there
        if isinstance(content, list):
            turn["content"] = [*map(_as_words, content)]
        elif images and not content and not turn.get("tool_calls"):
            turn["content"] = IMAGE
    # With calls, some providers require it
    if not turn.get("tool_calls"):
        turn.pop("reasoning_content", None)
    return turn


def _as_words(part: Any) -> Any:
    return {"type": "text", "text": IMAGE} if part.get("type") == "image_url" else part


def _responses(
    model: str, messages: Messages, tools: Sequence[Json], options: Mapping[str, Any]
) -> Json:
    items: list[Any] = []
    for message in messages:
        if "output" in message and "role" in message:
            items += [_without_none(item) for item in message["output"]]
        else:
            items.append(dict(message))
    body: Json = {**options, "model": model, "input": items, "stream": True}
    return body | ({"tools": list(tools)} if tools else {})


def _anthropic(
    model: str, messages: Messages, tools: Sequence[Json], options: Mapping[str, Any]
) -> Json:
    turns = _turns(messages, "content", _claude_blocks)
    body: Json = {
        "max_tokens": MOST_TOKENS,
        **options,
        "model": model,
        "messages": turns,
        "stream": True,
    }
    if system := instructions(messages):
        body["system"] = system
    return body | ({"tools": list(tools)} if tools else {})


def _claude_blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [_without_none(block) for block in content or ()]
    return [_readable(b) for b in blocks if b.get("type") != "text" or b["text"].strip()]


def _readable(block: Json) -> Json:
    """Return *block*. If it is a call whose arguments cannot be read, put them into an object."""
    if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {UNREADABLE: str(block.get("input") or "")}}
    return block


def _gemini(
    model: str, messages: Messages, tools: Sequence[Json], options: Mapping[str, Any]
) -> Json:
    config: Json = dict(options)
    if system := instructions(messages):
        config["system_instruction"] = system
    if tools:
        config["tools"] = [{"function_declarations": list(tools)}]
        config["automatic_function_calling"] = {"disable": True}
    contents = _turns(messages, "parts", _gemini_parts)
    return {"model": model, "contents": contents, "config": config}


def _gemini_parts(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("parts", message.get("content"))
    if isinstance(content, str):
        content = [{"text": content}]
    parts = [_without_none(part) for part in content or ()]
    return [part for part in parts if part.get("text") != ""]


def _turns(messages: Messages, key: str, parts_of: Any) -> list[Json]:
    """Return *messages* as turns, without instructions; a turn joins messages of the same role."""
    turns: list[Json] = []
    for message in messages:
        parts = [] if message.get("role") == "system" else parts_of(message)
        if not parts:
            continue
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1][key] += parts
        else:
            turns.append({"role": message["role"], key: parts})
    return turns
