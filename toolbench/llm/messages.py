"""Find the tool calls in whatever a provider or its SDK hands over: dict, JSON text or object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbench.core.validation import clip
from toolbench.errors import BodyError
from toolbench.llm.jsontext import NotJsonError, embedded, read_json
from toolbench.llm.providers import Provider

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Sent:
    """One call as it was sent; nothing of it is checked yet."""

    name: Any
    arguments: Any
    id: Any = None


@dataclass
class Message:
    """What one message of a model holds."""

    provider: Provider
    calls: list[Sent] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    response_id: str | None = None
    model: str | None = None
    finish: str | None = None
    """Why the model stopped, in the provider's word."""
    repairs: list[str] = field(default_factory=list)

    @property
    def thought(self) -> str:
        """What the model said around its calls, thinking first."""
        return "\n\n".join(
            part for part in map("".join, (self.thinking, self.text)) if part
        )


def read_message(message: Any) -> Message:
    """Return what *message* holds: a whole response, a message, one call, or a list of them.

    Raises:
        BodyError: If it is nothing a known provider sends.
    """
    around = ""
    repairs: list[str] = []
    if isinstance(message, str | bytes):
        message, around, repairs = _from_text(message)
    data = plain(message)
    for fits, read in _SHAPES:
        if fits(data):
            found = read(data)
            found.repairs = [f"the message: {repair}" for repair in repairs]
            found.text += [around] if around else []
            return found
    msg = (
        f"No tool call can be read from {clip(data)}. Give the message of an OpenAI, "
        "Anthropic, Gemini or MCP model: a dict, JSON text, or the object of its SDK."
    )
    raise BodyError(msg)


def _from_text(text: str | bytes) -> tuple[Any, str, list[str]]:
    """The JSON of a text, the words around it, and what was repaired."""
    try:
        text = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        msg = f"The message is no text: {error}."
        raise BodyError(msg) from None
    try:
        value, repairs = read_json(text)
    except NotJsonError as error:
        values, around = embedded(text)
        if values:
            note = "the text around its JSON was taken as the thought"
            return values[0] if len(values) == 1 else values, around, [note]
        msg = f"The message is no JSON: {error}."
        raise BodyError(msg) from None
    return value, "", repairs


def plain(value: Any) -> Any:
    """Return *value* as dicts and lists; an SDK's objects are pydantic models."""
    if isinstance(value, dict | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    return dump(mode="json", warnings=False) if callable(dump) else value


# --- one shape after the other --------------------------------------------------------


def _has(*names: str) -> Callable[[Any], bool]:
    def fits(data: Any) -> bool:
        return _first(data, *names) is not None

    return fits


def _first(data: Any, *names: str) -> Any:
    if isinstance(data, dict):
        for name in names:
            if data.get(name) is not None:
                return data[name]
    return None


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return [plain(item) for item in value] if isinstance(value, list) else [value]


def _str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _chat_completion(data: Json) -> Message:
    choice = next(iter(_listed(data["choices"])), None)
    found = _chat(_first(choice, "message", "delta") or {})
    found.finish = _str(_first(choice, "finish_reason"))
    return _headed(found, data)


def _chat(data: Any) -> Message:
    found = Message("openai")
    for part in _listed(_first(data, "content")):
        found.text.append(part if isinstance(part, str) else _text_of(part))
    for call in _listed(_first(data, "tool_calls")):
        found.calls.append(_chat_call(call))
    if (old := _first(data, "function_call")) is not None:
        found.calls.append(_chat_call({"function": old}))
    found.thinking.append(_str(_first(data, "reasoning_content", "reasoning")) or "")
    return found


def _chat_call(call: Any) -> Sent:
    function = _first(call, "function", "custom")
    arguments = _first(function, "arguments", "input")
    return Sent(_first(function, "name"), arguments, _first(call, "id"))


def _response(data: Json) -> Message:
    found = _items(_listed(data["output"]))
    found.finish = _str(data.get("status"))
    return _headed(found, data)


def _items(items: list[Any]) -> Message:
    found = Message("responses")
    for item in items:
        kind = _first(item, "type")
        if kind == "function_call":
            id_ = _first(item, "call_id", "id")
            found.calls.append(Sent(_first(item, "name"), item.get("arguments"), id_))
        elif kind == "message":
            found.text += map(_text_of, _listed(_first(item, "content")))
        elif kind == "reasoning":
            found.thinking += map(_text_of, _listed(_first(item, "summary")))
    return found


def _claude(data: Json) -> Message:
    found = _blocks(_listed(data["content"]))
    found.finish = _str(data.get("stop_reason"))
    return _headed(found, data)


def _blocks(blocks: list[Any]) -> Message:
    found = Message("anthropic")
    for block in blocks:
        kind = _first(block, "type")
        if kind == "tool_use":
            sent = Sent(_first(block, "name"), block.get("input"), _first(block, "id"))
            found.calls.append(sent)
        elif kind == "thinking":
            found.thinking.append(_text_of(block))
        elif kind == "text":
            found.text.append(_text_of(block))
    return found


def _generated(data: Json) -> Message:
    candidate = next(iter(_listed(data["candidates"])), None)
    found = _parts(_listed(_first(_first(candidate, "content"), "parts")))
    found.finish = _str(_first(candidate, "finishReason", "finish_reason"))
    found.response_id = _str(_first(data, "responseId", "response_id"))
    found.model = _str(_first(data, "modelVersion", "model_version"))
    return found


def _parts(parts: list[Any]) -> Message:
    found = Message("gemini")
    for part in parts:
        call = _first(part, "functionCall", "function_call")
        if call is not None:
            sent = Sent(_first(call, "name"), _first(call, "args"), _first(call, "id"))
            found.calls.append(sent)
        elif _first(part, "thought"):
            found.thinking.append(_text_of(part))
        else:
            found.text.append(_text_of(part))
    return found


def _rpc(data: Any) -> Message:
    found = Message("mcp")
    for part in _listed(data):
        asked = _first(part, "params") or part
        sent = Sent(
            _first(asked, "name"), _first(asked, "arguments"), _first(part, "id")
        )
        found.calls.append(sent)
    return found


def _text_of(part: Any) -> str:
    return _str(_first(part, "text", "thinking", "refusal")) or ""


def _headed(found: Message, data: Json) -> Message:
    found.response_id = _str(data.get("id"))
    found.model = _str(data.get("model"))
    return found


def _typed(*kinds: str) -> Callable[[Any], bool]:
    """A list with a part of one of *kinds* in it, or such a part alone."""
    return lambda data: any(_first(part, "type") in kinds for part in _listed(data))


def _with(*names: str) -> Callable[[Any], bool]:
    """A list with a part in it that has one of *names*, or such a part alone."""
    return lambda data: any(_has(*names)(part) for part in _listed(data))


def _is_old_call(data: Any) -> bool:
    return _has("arguments")(_first(data, "function_call"))


_SHAPES: tuple[tuple[Callable[[Any], bool], Callable[[Any], Message]], ...] = (
    (_has("choices"), _chat_completion),
    (_has("candidates"), _generated),
    (_has("output"), _response),
    (_has("tool_calls"), _chat),
    (_is_old_call, _chat),
    (_has("message"), lambda data: _chat(plain(data["message"]))),
    (_has("parts"), lambda data: _parts(_listed(data["parts"]))),
    (
        lambda data: _has("parts")(_first(data, "content")),
        lambda data: _parts(_listed(data["content"]["parts"])),
    ),
    (_with("functionCall", "function_call"), lambda data: _parts(_listed(data))),
    (_typed("function_call"), lambda data: _items(_listed(data))),
    (_typed("tool_use"), lambda data: _blocks(_listed(data))),
    (
        _typed("function", "custom"),
        lambda data: Message("openai", [_chat_call(c) for c in _listed(data)]),
    ),
    (lambda data: _has("content")(data) and _first(data, "type") == "message", _claude),
    (
        lambda data: (
            _has("content")(data) and _typed("tool_use", "thinking")(data["content"])
        ),
        _claude,
    ),
    (lambda data: _first(data, "role") == "assistant", _chat),
    (_with("params", "arguments"), _rpc),
    # lists of parts in which nothing is called
    (_typed("message", "reasoning"), lambda data: _items(_listed(data))),
    (_typed("text", "thinking"), lambda data: _blocks(_listed(data))),
    (_with("text"), lambda data: _parts(_listed(data))),
)
