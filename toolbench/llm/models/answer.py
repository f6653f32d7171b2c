"""Turn the result of a provider, its SDK or a function into an `Answer`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbench.errors import ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.messages import plain, read_message
from toolbench.llm.models.protocol import Answer, Chunk, OnChunk, Usage
from toolbench.llm.models.sendable import dollars, sendable, whole_number
from toolbench.llm.providers import Provider
from toolbench.values import clip

_FINISH: Mapping[str, str] = {
    # OpenAI
    "function_call": "tool_calls",
    "content_filter": "refusal",
    "completed": "stop",
    "max_output_tokens": "length",
    # Anthropic
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    # Gemini
    "blocklist": "refusal",
    "image_safety": "refusal",
    "prohibited_content": "refusal",
    "recitation": "refusal",
    "safety": "refusal",
    "spii": "refusal",
}
"""The value of `Answer.finish_reason` for each word that a provider sends."""


def as_answer(value: Any, provider: Provider) -> Answer:
    """Turn *value* into an `Answer`.

    Args:
        value: An `Answer`, a text, a message, or a whole response, as dict or SDK object.
        provider: The dialect of the answer, unless *value* is a response in another dialect.

    Raises:
        ModelError: If *value* is anything else, or a response that reports an error.
    """
    if isinstance(value, Answer):
        return _checked(value, provider)
    if isinstance(value, str):
        return Answer(text_message(value, provider), "stop")
    data = plain(value)
    if not isinstance(data, dict):
        msg = (
            f"The model returned {clip(data)}. It should be a message: a dict, an Answer, "
            "a text, or the response of a provider's SDK."
        )
        raise ModelError(msg)
    dialect = _dialect(data, provider)
    try:
        return _checked(_READERS[dialect](data), dialect)
    except (AttributeError, LookupError, TypeError, ValueError):
        # a server may send anything: any part may be missing or wrong
        msg = f"The model's answer cannot be read: {clip(data, 200)}"
        raise ModelError(msg) from None


def _checked(answer: Answer, provider: Provider) -> Answer:
    """Return *answer* with a message that can be sent again, and without invalid numbers.

    Raises:
        ModelError: If the message of *answer* is not a dict.
    """
    if not isinstance(answer.message, Mapping):
        msg = f"The message of an answer should be a dict, not {clip(answer.message)}."
        raise ModelError(msg)
    message = sendable(answer.message, provider)
    usage = answer.usage
    if usage is not None:
        usage = Usage(
            whole_number(usage.input_tokens),
            whole_number(usage.output_tokens),
            dollars(usage.cost),
        )
    return replace(answer, message=message, usage=usage)


def text_message(text: str, provider: Provider) -> Json:
    """Return *text* as a message of a model, in the dialect of *provider*."""
    match provider:
        case "gemini":
            return {"role": "model", "parts": [{"text": text}]}
        case "anthropic":
            block = {"type": "text", "text": text}
            return {"role": "assistant", "content": [block]}
        case "responses":
            part = {"type": "output_text", "text": text, "annotations": []}
            item = {"type": "message", "role": "assistant", "content": [part]}
            return {"role": "assistant", "output": [item]}
    return {"role": "assistant", "content": text}


def call_message(
    text: str, calls: Sequence[tuple[str, Mapping[str, Any]]], provider: Provider
) -> Json:
    """Return *text* and *calls* as a message of a model, in the dialect of *provider*.

    Args:
        text: The text of the message; may be empty.
        calls: The names of tools, as the model knows them, with their arguments.
        provider: The dialect of the message.
    """
    message = text_message(text, provider) if text or not calls else None
    tool_calls = [_made_call(*call, provider) for call in calls]
    match provider:
        case "gemini":
            return {
                "role": "model",
                "parts": [*(message or {}).get("parts", []), *tool_calls],
            }
        case "anthropic":
            blocks = (message or {}).get("content", [])
            return {"role": "assistant", "content": [*blocks, *tool_calls]}
        case "responses":
            items = (message or {}).get("output", [])
            return {"role": "assistant", "output": [*items, *tool_calls]}
    base = {"role": "assistant", "content": text or (None if calls else "")}
    return base | ({"tool_calls": tool_calls} if tool_calls else {})


def _made_call(name: str, arguments: Mapping[str, Any], provider: Provider) -> Json:
    text = json.dumps(arguments, ensure_ascii=False)
    match provider:
        case "gemini":
            return {"functionCall": {"name": name, "args": dict(arguments)}}
        case "anthropic":
            call = {"type": "tool_use", "id": None, "name": name}
            return {**call, "input": dict(arguments)}
        case "responses":
            call = {"type": "function_call", "call_id": None, "name": name}
            return {**call, "arguments": text}
    return {
        "id": None,
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def numbered(answer: Answer, place: int) -> Answer:
    """Return *answer* with an id for each call that has none.

    Args:
        answer: The answer of a model.
        place: The number of messages before the answer; it makes the ids unique.
    """
    message = answer.message
    for where, key, kind in _CALLS:
        parts = message.get(where)
        if not isinstance(parts, list):
            continue
        renamed = [
            {**part, key: f"call_{place}_{number}"}
            if isinstance(part, dict) and part.get("type") == kind and not part.get(key)
            else part
            for number, part in enumerate(parts)
        ]
        if renamed != parts:
            return replace(answer, message={**message, where: renamed})
    return answer


_CALLS = (
    ("tool_calls", "id", "function"),
    ("content", "id", "tool_use"),
    ("output", "call_id", "function_call"),
)
"""For each dialect: the key of the calls, the key of a call's id, and the type of a call."""


def whole_answer(value: Any, provider: Provider, place: int, on_chunk: OnChunk | None) -> Answer:
    """Turn *value*, a complete answer, into an `Answer`, and pass the `Answer` to *on_chunk*.

    *place* is the number of messages before the answer.
    """
    answer = numbered(as_answer(value, provider), place)
    report(answer, on_chunk)
    return answer


def report(answer: Answer, on_chunk: OnChunk | None) -> None:
    """Pass a complete answer to *on_chunk* in a few chunks."""
    if on_chunk is None:
        return
    read = read_message(answer.message)
    for kind, pieces in (("thinking", read.thinking), ("text", read.text)):
        if text := "".join(pieces):
            on_chunk(Chunk("thinking" if kind == "thinking" else "text", text))
    for index, call in enumerate(read.calls):
        arguments = call.arguments
        text = arguments if isinstance(arguments, str) else clip(arguments, _LONGEST)
        on_chunk(Chunk("call", text, str(call.name), index))


_LONGEST = 1_000_000


# --- each provider's response ---------------------------------------------------------


def _dialect(data: Json, provider: Provider) -> Provider:
    """Return the provider in whose format *data*, a response or a message, is.

    If *data* does not show this, return *provider*.
    """
    if data.get("choices") is not None:
        return "openai"
    if "candidates" in data or "promptFeedback" in data or "prompt_feedback" in data:
        return "gemini"
    return provider


def _chat(data: Json) -> Answer:
    choices = data.get("choices") or ()
    choice = choices[0] if choices else None
    message = dict(choice.get("message") or {}) if choice is not None else data
    if "choices" in data and choice is None:
        raise ModelError(_failure(data) or "The model's response has no choices in it.")
    message = {"role": "assistant", "content": None} | {
        key: part for key, part in message.items() if part is not None
    }
    if message.get("tool_calls") == []:
        del message["tool_calls"]
    finish = (choice or {}).get("finish_reason")
    if message.get("refusal"):
        finish = "refusal"
    usage = data.get("usage")
    return _answer(message, finish, data, _usage(usage, "prompt_tokens", "completion_tokens"))


def _responses(data: Json) -> Answer:
    if data.get("status") == "failed" or data.get("error"):
        raise ModelError(_failure(data) or "The model's response failed.")
    message = {"role": "assistant", "output": list(data.get("output") or ())}
    details = data.get("incomplete_details") or {}
    finish = details.get("reason") or data.get("status")
    if any(_is_refusal(item) for item in message["output"]):
        finish = "refusal"
    usage = _usage(data.get("usage"), "input_tokens", "output_tokens")
    return _answer(message, finish, data, usage)


def _is_refusal(item: Any) -> bool:
    content = item.get("content") if isinstance(item, dict) else None
    parts = content if isinstance(content, list) else []
    return any(isinstance(p, dict) and p.get("type") == "refusal" for p in parts)


def _claude(data: Json) -> Answer:
    content = data.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    message = {"role": "assistant", "content": [*map(_read_input, blocks or ())]}
    usage = _usage(
        data.get("usage"),
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    return _answer(message, data.get("stop_reason"), data, usage)


def _read_input(block: Any) -> Any:
    """Return *block*, a part of a message. If it is a streamed call, read its arguments from JSON text.

    If it is no JSON, for example because it was cut off, it stays as text.
    """
    if not isinstance(block, dict) or not isinstance(block.get("input"), str):
        return block
    try:
        value = json.loads(block["input"] or "{}", parse_constant=_refused)
    except ValueError:
        return block
    return {**block, "input": value}


def _refused(word: str) -> None:
    """Refuse NaN and infinities, which Python reads and no request can carry.

    Raises:
        ValueError: Always.
    """
    raise ValueError(word)


def _gemini(data: Json) -> Answer:
    candidate = next(iter(data.get("candidates") or ()), None)
    content = (candidate.get("content") or {}) if candidate else data
    message = {"role": "model", "parts": list(content.get("parts") or ())}
    finish = _either(candidate or {}, "finishReason", "finish_reason")
    feedback = _either(data, "promptFeedback", "prompt_feedback") or {}
    if _either(feedback, "blockReason", "block_reason"):
        finish = "SAFETY"
    usage = _gemini_usage(_either(data, "usageMetadata", "usage_metadata") or {})
    id_ = _either(data, "responseId", "response_id")
    model = _either(data, "modelVersion", "model_version")
    return _answer(message, finish, {"id": id_, "model": model}, usage)


def _gemini_usage(data: Json) -> Usage | None:
    tokens_in = whole_number(_either(data, "promptTokenCount", "prompt_token_count"))
    parts = [
        _either(data, "candidatesTokenCount", "candidates_token_count"),
        _either(data, "thoughtsTokenCount", "thoughts_token_count"),
    ]
    numbers = [part for part in map(whole_number, parts) if part is not None]
    if tokens_in is None and not numbers:
        return None
    return Usage(tokens_in, sum(numbers) if numbers else None)


def _either(data: Json, one: str, other: str) -> Any:
    return data.get(one) if data.get(one) is not None else data.get(other)


def _usage(data: Any, into: str, out: str, *more: str) -> Usage | None:
    if not isinstance(data, dict):
        return None
    numbers = [whole_number(data.get(key)) for key in (into, *more)]
    tokens = [number for number in numbers if number is not None]
    # OpenRouter sends it; `_checked` checks it
    cost = data.get("cost")
    return Usage(sum(tokens) if tokens else None, data.get(out), cost)


def _answer(message: Json, finish: Any, head: Json, usage: Usage | None) -> Answer:
    word = str(getattr(finish, "value", finish)) if finish else None
    reason = None if word is None else _FINISH.get(word.lower(), word.lower())
    if reason in (None, "stop") and read_message(message).calls:
        # Gemini and the Responses API have no word for calls
        reason = "tool_calls"
    id_, model = head.get("id"), head.get("model")
    return Answer(
        message,
        reason or "stop",
        usage,
        id_ if isinstance(id_, str) else None,
        model if isinstance(model, str) else None,
    )


def _failure(data: Json) -> str | None:
    error = data.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return f"The model's provider failed: {message}" if message else None


_READERS = {
    "openai": _chat,
    "responses": _responses,
    "anthropic": _claude,
    "gemini": _gemini,
    "mcp": _chat,
}
