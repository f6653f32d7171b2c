"""Repair a model's message so that it can be sent again: fix or drop parts that a provider refuses.

A server may send anything. An invalid part, an id that is not text, or arguments that are not
JSON text would make every later request of the conversation fail.
"""

import json
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.calls.messages import UNREADABLE
from toolbench.llm.providers import Provider


def sendable(message: Mapping[str, Any], provider: Provider) -> Json:
    """Return a model's *message* in a form that its *provider* accepts."""
    if "parts" in message:
        return {**message, "role": "model", "parts": _parts(message["parts"], _part)}
    if "output" in message:
        items = _parts(message["output"], _item)
        return {**message, "role": "assistant", "output": items}
    if provider == "anthropic":
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        blocks = _parts(content, _block)
        return {**message, "role": "assistant", "content": blocks}
    return _chat(message)


def whole_number(value: Any) -> int | None:
    """Return *value* if it is a number of tokens, else None, which means not known."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None


def dollars(value: Any) -> float | None:
    """Return *value* if it is an amount of money, else None, which means not known."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if isfinite(amount) and amount >= 0 else None


def _parts(value: Any, read: Callable[[Json], Json | None]) -> list[Json]:
    parts = value if isinstance(value, list | tuple) else ()
    read_parts = [read(dict(part)) for part in parts if isinstance(part, Mapping)]
    return [part for part in read_parts if part]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _id(value: Any) -> str | None:
    """Return *value*, the id of a call, as text; None if the call needs a new id."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else _text(value) or None


def _json_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


# --- OpenAI's chat completions --------------------------------------------------------


def _chat(message: Mapping[str, Any]) -> Json:
    copy = {**message, "role": "assistant"}
    content = message.get("content")
    if isinstance(content, list | tuple):
        copy["content"] = _parts(content, _block)
    elif not isinstance(content, str | None):
        copy["content"] = None
    if "tool_calls" in copy:
        copy["tool_calls"] = _parts(copy["tool_calls"], _chat_call)
        if not copy["tool_calls"]:
            del copy["tool_calls"]
    if "images" in copy:
        copy["images"] = _parts(copy["images"], _image)
    for key in ("refusal", "reasoning_content", "reasoning"):
        if key in copy and not isinstance(copy[key], str):
            del copy[key]
    old = copy.pop("function_call", None)
    if isinstance(old, Mapping):
        copy["function_call"] = _function(old)
    return copy


def _chat_call(call: Json) -> Json:
    copy = {**call, "id": _id(call.get("id"))}
    if call.get("type") == "custom" and isinstance(call.get("custom"), Mapping):
        custom = call["custom"]
        input_ = _json_text(custom.get("input"))
        return {**copy, "custom": {"name": _text(custom.get("name")), "input": input_}}
    function = call.get("function")
    copy.pop("custom", None)
    function = function if isinstance(function, Mapping) else {}
    return {**copy, "type": "function", "function": _function(function)}


def _function(function: Mapping[str, Any]) -> Json:
    arguments = _json_text(function.get("arguments"))
    return {**function, "name": _text(function.get("name")), "arguments": arguments}


def _image(image: Json) -> Json | None:
    url = image.get("image_url")
    is_image = isinstance(url, Mapping) and isinstance(url.get("url"), str)
    return image if is_image else None


# --- Anthropic's blocks, and parts of a chat message ----------------------------------


def _block(block: Json) -> Json | None:
    kind = block.get("type")
    if not isinstance(kind, str):
        return None
    if kind in ("text", "thinking", "refusal"):
        return block if isinstance(block.get(kind), str) else None
    if kind == "tool_use":
        name = _text(block.get("name"))
        return {**block, "id": _id(block.get("id")), "name": name}
    return block


# --- OpenAI's responses ---------------------------------------------------------------


def _item(item: Json) -> Json | None:
    kind = item.get("type")
    if not isinstance(kind, str):
        return None
    if kind == "function_call":
        id_ = _id(item.get("call_id")) or _id(item.get("id"))
        return {**item, "call_id": id_, **_function(item)}
    if kind == "message":
        content = item.get("content")
        if isinstance(content, str):
            content = [{"type": "output_text", "text": content, "annotations": []}]
        return {**item, "role": "assistant", "content": _parts(content, _text_part)}
    if kind == "reasoning":
        return {**item, "summary": _parts(item.get("summary"), _text_part)}
    return item


def _text_part(part: Json) -> Json | None:
    key = "refusal" if part.get("type") == "refusal" else "text"
    is_part = isinstance(part.get("type"), str) and isinstance(part.get(key), str)
    return part if is_part else None


# --- Gemini's parts -------------------------------------------------------------------


def _part(part: Json) -> Json | None:
    copy = dict(part)
    for key in ("functionCall", "function_call"):
        call = copy.pop(key, None)
        if isinstance(call, Mapping):
            copy[key] = _gemini_call(call)
    for key in ("inlineData", "inline_data"):
        blob = copy.pop(key, None)
        if isinstance(blob, Mapping) and isinstance(blob.get("data"), str):
            copy[key] = dict(blob)
    if "text" in copy and not isinstance(copy["text"], str):
        del copy["text"]
    for key in ("thoughtSignature", "thought_signature"):
        if key in copy and not isinstance(copy[key], str):
            del copy[key]
    return copy if copy.keys() - {"thought"} else None


def _gemini_call(call: Mapping[str, Any]) -> Json:
    arguments = call.get("args")
    if arguments is None:
        arguments = {}
    elif not isinstance(arguments, Mapping):
        arguments = {UNREADABLE: _json_text(arguments)}
    copy = {**call, "name": _text(call.get("name")), "args": dict(arguments)}
    if "id" in copy and not (_id(copy["id"])):
        del copy["id"]
    return copy
