"""Find the tool calls in a provider's message: a dict, JSON text or an SDK's object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbench.errors import BodyError
from toolbench.llm.calls.json_text import NotJsonError, embedded, read_json
from toolbench.llm.providers import Provider
from toolbench.values import clip

Json = Mapping[str, Any]

UNREADABLE = "unreadable_arguments"
"""The key of arguments that are no object, for providers that accept objects only."""


@dataclass(frozen=True)
class Sent:
    """One call as the model sent it, not checked yet."""

    name: Any
    arguments: Any
    id: Any = None
    problem: str | None = None
    """Why the arguments cannot be read, if that is known."""


@dataclass
class Message:
    """The content of one message of a model: calls, text, thinking."""

    provider: Provider
    calls: list[Sent] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    response_id: str | None = None
    model: str | None = None
    finish: str | None = None
    """The reason why the model stopped, as a word of the provider."""
    repairs: list[str] = field(default_factory=list)

    @property
    def thought(self) -> str:
        """The model's thinking, then its text."""
        return "\n\n".join(part for part in map("".join, (self.thinking, self.text)) if part)


def read_message(message: Any) -> Message:
    """Read *message*: a whole response, a message, one call, or a list of calls.

    Raises:
        BodyError: If no known provider sends such a message.
    """
    around = ""
    repairs: list[str] = []
    if isinstance(message, str | bytes):
        message, around, repairs = _from_text(message)
    data = plain(message)
    read = _reader(data)
    if read is not None:
        parsed = read(data)
        parsed.repairs = [f"the message: {repair}" for repair in repairs]
        parsed.text += [around] if around else []
        return parsed
    msg = (
        f"No tool call can be read from {clip(data)}. Give the message of an OpenAI, "
        "Anthropic, Gemini or MCP model: a dict, JSON text, or the object of its SDK."
    )
    raise BodyError(msg)


def _from_text(text: str | bytes) -> tuple[Any, str, list[str]]:
    """Return the JSON value in *text*, the words around the JSON, and the repairs of the JSON.

    Raises:
        BodyError: If *text* has no JSON.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        msg = f"The message is not text: {error}."
        raise BodyError(msg) from None
    try:
        value, repairs = read_json(text)
    except NotJsonError as error:
        values, around = embedded(text)
        if values:
            note = "the text around its JSON was read as the model's thought"
            return values[0] if len(values) == 1 else values, around, [note]
        msg = f"The message is not JSON: {error}."
        raise BodyError(msg) from None
    return value, "", repairs


def plain(value: Any) -> Any:
    """Return *value* as dicts and lists; the objects of an SDK are pydantic models."""
    if isinstance(value, dict | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    return dump(mode="json", warnings=False) if callable(dump) else value


# --- a reader for each shape ----------------------------------------------------------


def _first(data: Any, *names: str) -> Any:
    if isinstance(data, dict):
        for name in names:
            if data.get(name) is not None:
                return data[name]
    return None


def as_sent_first(arguments: Any) -> Any:
    """Return *arguments* as the model sent them, before they were put below `UNREADABLE`."""
    if isinstance(arguments, Mapping) and arguments.keys() == {UNREADABLE}:
        return arguments[UNREADABLE]
    return arguments


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return [plain(item) for item in value] if isinstance(value, list) else [value]


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _chat_completion(data: Json) -> Message:
    choice = next(iter(_list(data["choices"])), None)
    message = _chat(_first(choice, "message", "delta") or {})
    message.finish = _str(_first(choice, "finish_reason"))
    return _headed(message, data)


def _chat(data: Any) -> Message:
    message = Message("openai")
    for part in _list(_first(data, "content")):
        message.text.append(part if isinstance(part, str) else _text_of(part))
    for call in _list(_first(data, "tool_calls")):
        message.calls.append(_chat_call(call))
    if (old := _first(data, "function_call")) is not None:
        message.calls.append(_chat_call({"function": old}))
    message.thinking.append(_str(_first(data, "reasoning_content", "reasoning")) or "")
    return message


def _tool_calls(calls: list[Any]) -> Message:
    return Message("openai", [_chat_call(call) for call in calls])


def _chat_call(call: Any) -> Sent:
    function = _first(call, "function", "custom")
    arguments = _first(function, "arguments", "input")
    return Sent(_first(function, "name"), arguments, _first(call, "id"))


def _response(data: Json) -> Message:
    message = _items(_list(data["output"]))
    message.finish = _str(data.get("status"))
    return _headed(message, data)


def _items(items: list[Any]) -> Message:
    message = Message("responses")
    for item in items:
        kind = _first(item, "type")
        if kind == "function_call":
            id_ = _first(item, "call_id", "id")
            message.calls.append(Sent(_first(item, "name"), item.get("arguments"), id_))
        elif kind == "message":
            message.text += map(_text_of, _list(_first(item, "content")))
        elif kind == "reasoning":
            message.thinking += map(_text_of, _list(_first(item, "summary")))
    return message


def _claude(data: Json) -> Message:
    message = _blocks(_list(data.get("content")))
    message.finish = _str(data.get("stop_reason"))
    return _headed(message, data)


def _blocks(blocks: list[Any]) -> Message:
    message = Message("anthropic")
    for block in blocks:
        kind = _first(block, "type")
        if kind == "tool_use":
            arguments = as_sent_first(block.get("input"))
            sent = Sent(_first(block, "name"), arguments, _first(block, "id"))
            message.calls.append(sent)
        elif kind == "thinking":
            message.thinking.append(_text_of(block))
        elif kind == "text":
            message.text.append(_text_of(block))
    return message


def _generated(data: Json) -> Message:
    candidate = next(iter(_list(data["candidates"])), None)
    message = _parts(_list(_first(_first(candidate, "content"), "parts")))
    message.finish = _str(_first(candidate, "finishReason", "finish_reason"))
    message.response_id = _str(_first(data, "responseId", "response_id"))
    message.model = _str(_first(data, "modelVersion", "model_version"))
    return message


def _parts(parts: list[Any]) -> Message:
    message = Message("gemini")
    for part in parts:
        call = _first(part, "functionCall", "function_call")
        if call is not None:
            arguments = as_sent_first(_first(call, "args"))
            sent = Sent(_first(call, "name"), arguments, _first(call, "id"))
            message.calls.append(sent)
        elif _first(part, "thought"):
            message.thinking.append(_text_of(part))
        else:
            message.text.append(_text_of(part))
    return message


def _rpc(parts: list[Any]) -> Message:
    message = Message("mcp")
    for part in parts:
        params = _first(part, "params") or part
        sent = Sent(_first(params, "name"), _first(params, "arguments"), _first(part, "id"))
        message.calls.append(sent)
    return message


def _text_of(part: Any) -> str:
    return _str(_first(part, "text", "thinking", "refusal")) or ""


def _headed(message: Message, data: Json) -> Message:
    message.response_id = _str(data.get("id"))
    message.model = _str(data.get("model"))
    return message


# --- the choice of a reader -----------------------------------------------------------

_Reader = Callable[[Any], Message]

_WHOLE: Mapping[str, _Reader] = {
    "choices": _chat_completion,
    "candidates": _generated,
    "output": _response,
    "tool_calls": _chat,
    "message": lambda data: _chat(plain(data["message"])),
    "parts": lambda data: _parts(_list(data["parts"])),
}
"""The reader for each key that only a whole message or response has."""

_BY_TYPE: Mapping[Any, _Reader] = {
    "function": _tool_calls,
    "custom": _tool_calls,
    "function_call": _items,
    "message": _items,
    "reasoning": _items,
    "tool_use": _blocks,
    "text": _blocks,
    "thinking": _blocks,
}
_BY_KEY: Mapping[str, _Reader] = {
    "functionCall": _parts,
    "function_call": _parts,
    "params": _rpc,
    "arguments": _rpc,
    "text": _parts,
}


def _reader(data: Any) -> _Reader | None:
    """Return the function that reads *data*: a whole message, a list of parts, or one part.

    Return None if no known provider sends such data.
    """
    if isinstance(data, list):
        return next(filter(None, map(_part_reader, map(plain, data))), None)
    if not isinstance(data, dict):
        return None
    for key, read in _WHOLE.items():
        if data.get(key) is not None:
            return read
    if _first(data.get("function_call"), "arguments") is not None:
        # OpenAI's old form; Gemini has `args`
        return _chat
    if "role" in data or "content" in data:
        return _turn_reader(data)
    read_part = _part_reader(data)
    return None if read_part is None else lambda part: read_part([part])


def _turn_reader(data: Json) -> _Reader | None:
    content = data.get("content")
    if _first(content, "parts") is not None:
        return lambda turn: _parts(_list(turn["content"]["parts"]))
    kinds = {_str(_first(part, "type")) for part in _list(content)}
    if data.get("type") == "message" or kinds & {"tool_use", "thinking"}:
        return _claude
    return _chat if data.get("role") == "assistant" else None


def _part_reader(part: Any) -> _Reader | None:
    read = _BY_TYPE.get(_str(_first(part, "type")))
    if read is None and isinstance(part, dict):
        read = next((r for key, r in _BY_KEY.items() if key in part), None)
    return read
