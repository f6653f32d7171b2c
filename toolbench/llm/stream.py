"""Join the fragments of a streamed message until it can be read as a whole."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from toolbench.core.validation import clip
from toolbench.errors import BodyError
from toolbench.llm.messages import plain
from toolbench.llm.partial import put
from toolbench.llm.schemas import Json


class _Joiner(Protocol):
    def add(self, chunk: Mapping[str, Any]) -> None: ...

    @property
    def message(self) -> Json: ...


class ToolCallAccumulator:
    """Collects the chunks of one streamed message of any provider, in their order.

    `parse_tool_calls(accumulator.message, tools)` reads what has come so far; arguments that
    are still cut off are an error, never a guess.
    """

    def __init__(self) -> None:
        """Start with nothing received."""
        self._joiner: _Joiner | None = None

    def add(self, chunk: Any) -> None:
        """Take the next chunk or event: a dict, or the object of the provider's SDK.

        Raises:
            BodyError: If no known provider streams such a chunk; what came before stays.
        """
        data = plain(chunk)
        joiner = self._joiner or _joiner_of(data)
        try:
            joiner.add(data)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise _foreign(data) from error
        self._joiner = joiner

    @property
    def message(self) -> Json:
        """What has come so far, in the shape of the provider's whole message."""
        return self._joiner.message if self._joiner else {"choices": []}


def _joiner_of(chunk: Any) -> _Joiner:
    kind = chunk.get("type") if isinstance(chunk, Mapping) else None
    if isinstance(kind, str):
        return _Responses() if kind.startswith("response.") else _Anthropic()
    for key, make in _JOINERS.items():
        if isinstance(chunk, Mapping) and key in chunk:
            return make()
    raise _foreign(chunk)


def _foreign(chunk: Any) -> BodyError:
    shown = clip(chunk)
    return BodyError(f"No provider streams {shown}: give its chunks as they come.")


class _Chat:
    """`chat.completion.chunk`: names and ids come once, arguments in pieces."""

    def __init__(self) -> None:
        self._head: Json = {}
        self._content: list[str] = []
        self._calls: dict[Any, Json] = {}
        self._finish: Any = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        self._head |= {k: chunk[k] for k in ("id", "model") if chunk.get(k)}
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self._finish = choice.get("finish_reason") or self._finish
            if isinstance(delta.get("content"), str):
                self._content.append(delta["content"])
            for place, part in enumerate(delta.get("tool_calls") or ()):
                self._join(part.get("index", place), part)

    def _join(self, index: Any, part: Mapping[str, Any]) -> None:
        id_, function = part.get("id"), part.get("function") or {}
        call = self._calls.get(index)
        if call is not None and id_ and call["id"] and call["id"] != id_:
            index, call = id_, self._calls.get(id_)  # some servers number every call 0
        if call is None:
            call = {
                "id": None,
                "type": "function",
                "function": {"name": "", "arguments": ""},
            }
            self._calls[index] = call
        call["id"] = call["id"] or id_
        joined = call["function"]
        if function.get("name") and function["name"] != joined["name"]:
            joined["name"] += function["name"]
        joined["arguments"] += function.get("arguments") or ""

    @property
    def message(self) -> Json:
        message = {
            "role": "assistant",
            "content": "".join(self._content),
            "tool_calls": list(self._calls.values()),
        }
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._head, "choices": [choice]}


class _Responses:
    """The events of the Responses API; a finished item or response replaces its pieces."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[Any, Json] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        kind, place = event.get("type", ""), event.get("output_index")
        if isinstance(event.get("response"), Mapping):
            self._response = dict(event["response"])
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[place] = dict(event.get("item") or {})
        elif kind == "response.function_call_arguments.delta":
            item = self._items.setdefault(place, {"type": "function_call"})
            item["arguments"] = (item.get("arguments") or "") + (
                event.get("delta") or ""
            )
        elif kind == "response.function_call_arguments.done":
            item = self._items.setdefault(place, {"type": "function_call"})
            item["arguments"] = event.get("arguments", "")
        elif kind == "response.output_text.delta":
            item = self._items.setdefault(place, {"type": "message"})
            parts = item.setdefault("content", [])
            parts.append({"type": "output_text", "text": event.get("delta") or ""})

    @property
    def message(self) -> Json:
        whole = self._response.get("output")
        return {**self._response, "output": whole or list(self._items.values())}


class _Anthropic:
    """The events of the Messages API; the input of a tool comes as pieces of JSON."""

    def __init__(self) -> None:
        self._message: Json = {"type": "message"}
        self._blocks: dict[Any, Json] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        kind, place = event.get("type"), event.get("index")
        if kind == "message_start":
            self._message |= event.get("message") or {}
        elif kind == "content_block_start":
            self._blocks[place] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            self._join(self._blocks.setdefault(place, {}), event.get("delta") or {})
        elif kind == "message_delta":
            self._message |= {k: v for k, v in (event.get("delta") or {}).items() if v}

    def _join(self, block: Json, delta: Mapping[str, Any]) -> None:
        for piece, name in (("text", "text"), ("thinking", "thinking")):
            if isinstance(delta.get(piece), str):
                block[name] = block.get(name, "") + delta[piece]
        if isinstance(delta.get("partial_json"), str):
            given = block.get("input")
            block["input"] = (given if isinstance(given, str) else "") + delta[
                "partial_json"
            ]

    @property
    def message(self) -> Json:
        return {**self._message, "content": list(self._blocks.values())}


class _Gemini:
    """Chunks of `generateContent`: whole parts, or calls whose values come one by one."""

    def __init__(self) -> None:
        self._head: Json = {}
        self._parts: list[Json] = []
        self._finish: Any = None
        self._open: Json | None = None  # a call that is still coming

    def add(self, chunk: Mapping[str, Any]) -> None:
        self._head |= {k: v for k, v in chunk.items() if k != "candidates" and v}
        for candidate in (chunk.get("candidates") or ())[:1]:
            self._finish = (
                _either(candidate, "finishReason", "finish_reason") or self._finish
            )
            for part in (candidate.get("content") or {}).get("parts") or ():
                call = _either(part, "functionCall", "function_call")
                if call is None:
                    self._parts.append(part)
                else:
                    self._join(call)

    def _join(self, call: Mapping[str, Any]) -> None:
        if self._open is None or call.get("name"):
            self._open = {k: call.get(k) for k in ("id", "name")}
            self._open["args"] = dict(call.get("args") or {})
            self._parts.append({"functionCall": self._open})
        for piece in _either(call, "partialArgs", "partial_args") or ():
            put(self._open["args"], piece)
        if not _either(call, "willContinue", "will_continue"):
            self._open = None

    @property
    def message(self) -> Json:
        content = {"role": "model", "parts": self._parts}
        candidate = {"content": content, "finishReason": self._finish}
        return {**self._head, "candidates": [candidate]}


def _either(data: Mapping[str, Any], one: str, other: str) -> Any:
    return data.get(one) if data.get(one) is not None else data.get(other)


_JOINERS: Mapping[str, Callable[[], _Joiner]] = {
    "choices": _Chat,
    "candidates": _Gemini,
}
