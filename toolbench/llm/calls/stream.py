"""Join the chunks of a streamed message of any provider."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from toolbench.errors import BodyError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.messages import plain
from toolbench.llm.calls.partial_arguments import put
from toolbench.values import clip


class _Joiner(Protocol):
    def add(self, chunk: Mapping[str, Any]) -> None: ...

    @property
    def message(self) -> Json: ...


class ToolCallAccumulator:
    """Joins the chunks of one streamed message of any provider.

    `parse_tool_calls(accumulator.message, tools)` reads the message so far; arguments
    that are not complete yet are an error, never a guess.
    """

    def __init__(self) -> None:
        """Make an empty message."""
        self._joiner: _Joiner | None = None

    def add(self, chunk: Any) -> None:
        """Add the next chunk or event: a dict, or an object of the provider's SDK.

        Raises:
            BodyError: If *chunk* is not a chunk of a known provider; earlier chunks are kept. An event
                with an unknown `type` is ignored.
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
        """The message so far, in the format of a complete message of the provider."""
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
    text = clip(chunk)
    return BodyError(f"{text} is not a chunk of a known provider: pass the chunks unchanged.")


class _Text:
    """A text that arrives in pieces, which are joined when the text is read."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def add(self, piece: Any) -> None:
        if isinstance(piece, str) and piece:
            self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


def _texts(value: Any) -> Any:
    """Return *value* with each `_Text` in it as a string."""
    if isinstance(value, _Text):
        return str(value)
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    return [_texts(item) for item in value] if isinstance(value, list) else value


_GROWING = frozenset(
    {
        *("arguments", "content", "data", "reasoning", "reasoning_content", "refusal"),
        *("signature", "summary", "text", "thinking", "transcript"),
    }
)
"""Keys whose texts arrive in pieces. The value of any other key arrives whole, perhaps repeatedly."""


def _grow(into: Json, piece: Mapping[str, Any]) -> None:
    """Join *piece*, the next piece of an object, to *into*, whatever its keys are.

    A provider may want back what only it knows, such as a signature of a thought.
    """
    for key, value in piece.items():
        before = into.get(key)
        if isinstance(value, str) and key in _GROWING:
            if not isinstance(before, _Text):
                into[key] = before = _Text(before if isinstance(before, str) else "")
            before.add(value)
        elif isinstance(value, Mapping):
            if not isinstance(before, dict):
                into[key] = before = {}
            _grow(before, value)
        elif isinstance(value, list):
            if not isinstance(before, list):
                into[key] = before = []
            _extend(before, value)
        elif value is not None:
            into[key] = value


def _extend(items: list[Any], more: list[Any]) -> None:
    """Add *more* to *items*; an object of the type and index of an earlier one continues that one."""
    for item in more:
        if not isinstance(item, Mapping):
            items.append(item)
            continue
        known = (one for one in items if isinstance(one, dict) and _is_piece(item, one))
        earlier = next(known, None)
        if earlier is None:
            earlier = {}
            items.append(earlier)
        _grow(earlier, item)


def _is_piece(item: Mapping[str, Any], of: Mapping[str, Any]) -> bool:
    """Tell whether *item* of a list continues the earlier item *of*: both have the same number."""
    is_numbered = item.get("index") is not None
    return is_numbered and all(item.get(key) == of.get(key) for key in ("type", "index"))


class _Chat:
    """Joins the chunks of chat completions: names and ids arrive once, arguments in pieces.

    Servers number calls in ways of their own: each with 0, each piece anew, or not at all; some
    send another id with each piece. A known id says more than the index, and a piece without
    both belongs to the call that is open.
    """

    def __init__(self) -> None:
        self._head: Json = {}
        self._content = _Text()
        self._other: Json = {}
        self._images: list[Any] = []
        self._calls: list[Json] = []
        self._by_id: dict[Any, Json] = {}
        self._by_index: dict[Any, Json] = {}
        self._open: Json | None = None
        """The call that got the last piece."""
        self._finish: Any = None

    def add(self, chunk: Mapping[str, Any]) -> None:
        self._head |= {k: chunk[k] for k in ("id", "model", "usage") if chunk.get(k)}
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self._finish = choice.get("finish_reason") or self._finish
            self._content.add(delta.get("content"))
            _grow(self._other, {k: v for k, v in delta.items() if k not in _OWN_OF_CHAT})
            self._images += delta.get("images") or ()
            parts = delta.get("tool_calls") or ()
            for place, part in enumerate(parts):
                index = part.get("index")
                if index is None and len(parts) > 1:
                    index = place
                self._join(index, part)

    def _join(self, index: Any, part: Mapping[str, Any]) -> None:
        id_, function = part.get("id"), part.get("function") or {}
        name, arguments = function.get("name"), function.get("arguments")
        others = {key: value for key, value in part.items() if value and key not in _OWN_OF_CALL}
        # Padding
        if not (id_ or name or arguments or others):
            return
        call = self._by_id.get(id_) or self._by_index.get(index)
        if call is None and not name and (index is None or not id_):
            call = self._open
        if call is None or self._begins_another(call, index, id_, function):
            call = {
                "id": None,
                "type": "function",
                "function": {"name": "", "arguments": _Text()},
            }
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
        self._open = call
        if id_:
            call["id"] = call["id"] or id_
            self._by_id[id_] = call
        joined = call["function"]
        if name and name != joined["name"]:
            joined["name"] += name
        joined["arguments"].add(arguments)
        _grow(call, others)
        _grow(joined, {k: v for k, v in function.items() if k not in ("name", "arguments")})

    def _begins_another(self, call: Json, index: Any, id_: Any, function: Any) -> bool:
        """Tell whether a piece that seems to belong to *call* is the first of another call.

        Such a piece has a name. But some servers repeat the name, and some send it in pieces.
        """
        name, joined = function.get("name"), call["function"]
        if not name:
            return False
        has_new_id = bool(id_ and call["id"] and id_ != call["id"])
        is_new = has_new_id or (index is not None and index not in self._by_index)
        if name != joined["name"]:
            return is_new or bool(str(joined["arguments"]))
        has_arguments = bool(str(function.get("arguments") or "").strip())
        return (is_new or has_arguments) and _is_object(str(joined["arguments"]))

    @property
    def message(self) -> Json:
        message = {
            "role": "assistant",
            "content": str(self._content),
            "tool_calls": _texts(self._calls),
            **{key: value for key, value in _texts(self._other).items() if value},
        }
        if self._images:
            message["images"] = self._images
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._head, "choices": [choice]}


_OWN_OF_CHAT = frozenset({"content", "images", "role", "tool_calls"})
_OWN_OF_CALL = frozenset({"function", "id", "index", "type"})


def _is_object(arguments: str) -> bool:
    """Tell whether *arguments* are complete: the JSON text of an object."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


class _Responses:
    """Joins the events of the Responses API; a finished item or response replaces its pieces."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[Any, Json] = {}
        self._places: dict[Any, Any] = {}
        """The place of each item in `_items`, by the id of the item."""

    def _place(self, kind: str, event: Mapping[str, Any]) -> Any:
        """Return the key in `_items` of the item that *event* is about.

        The id of an item says more than its index, which some servers leave out.
        """
        id_ = event.get("item_id") or (event.get("item") or {}).get("id")
        if id_ in self._places:
            return self._places[id_]
        place, is_first = event.get("output_index"), kind == "response.output_item.added"
        if is_first and id_ and place in self._items:
            place = id_
        if place is None:
            place = id_ or len(self._items) - (0 if is_first else 1)
        if id_:
            self._places[id_] = place
        return place

    def add(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type", "")
        if isinstance(event.get("response"), Mapping):
            self._response = dict(event["response"])
            return
        place = self._place(kind, event)
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = dict(event.get("item") or {})
            if isinstance(item.get("content"), list):
                # A copy, which deltas extend
                item["content"] = [*item["content"]]
            self._items[place] = item
        elif kind == "response.function_call_arguments.delta":
            item = self._items.setdefault(place, {"type": "function_call"})
            if not isinstance(item.get("arguments"), _Text):
                item["arguments"] = _Text(item.get("arguments") or "")
            item["arguments"].add(event.get("delta"))
        elif kind == "response.function_call_arguments.done":
            item = self._items.setdefault(place, {"type": "function_call"})
            item["arguments"] = event.get("arguments", "")
        elif kind in _RESPONSE_TEXTS:
            name, type_ = _RESPONSE_TEXTS[kind]
            item = self._items.setdefault(place, {"type": "message"})
            self._part(item, type_, name).add(event.get("delta"))

    @staticmethod
    def _part(item: Json, type_: str, name: str) -> _Text:
        """Return the text under *name* in the last part of *item*; add a part if there is none."""
        parts = item.setdefault("content", [])
        if not parts or not isinstance(parts[-1].get(name), _Text):
            parts.append({"type": type_, name: _Text()})
        text: _Text = parts[-1][name]
        return text

    @property
    def message(self) -> Json:
        whole = self._response.get("output")
        items = whole or [_texts(item) for item in self._items.values()]
        return {**self._response, "output": items}


_RESPONSE_TEXTS = {
    "response.output_text.delta": ("text", "output_text"),
    "response.refusal.delta": ("refusal", "refusal"),
}


class _Anthropic:
    """Joins the events of the Messages API; the input of a tool arrives as pieces of JSON."""

    def __init__(self) -> None:
        self._message: Json = {"type": "message"}
        self._blocks: list[Json] = []
        self._by_index: dict[Any, Json] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        kind, place = event.get("type"), event.get("index")
        if kind == "message_start":
            self._message |= event.get("message") or {}
        elif kind == "content_block_start":
            self._begin(place, event.get("content_block") or {})
        elif kind == "content_block_delta":
            if place not in self._by_index:
                self._begin(place, {})
            self._join(self._by_index[place], event.get("delta") or {})
        elif kind == "message_delta":
            self._message |= {k: v for k, v in (event.get("delta") or {}).items() if v}
            used = {k: v for k, v in (event.get("usage") or {}).items() if v}
            self._message["usage"] = (self._message.get("usage") or {}) | used

    def _begin(self, place: Any, block: Mapping[str, Any]) -> None:
        """Add *block*; some servers give each block the same number."""
        begun: Json = {}
        _grow(begun, block)
        self._by_index[place] = begun
        self._blocks.append(begun)

    @staticmethod
    def _join(block: Json, delta: Mapping[str, Any]) -> None:
        others = {key: value for key, value in delta.items() if key != "type"}
        arguments, citation = others.pop("partial_json", None), others.pop("citation", None)
        if isinstance(arguments, str):
            if not isinstance(block.get("input"), _Text):
                block["input"] = _Text()
            block["input"].add(arguments)
        if citation is not None:
            others["citations"] = [citation]
        _grow(block, others)

    @property
    def message(self) -> Json:
        return {**self._message, "content": _texts(self._blocks)}


class _Gemini:
    """Joins the chunks of `generateContent`: whole parts, or calls whose values arrive one by one."""

    def __init__(self) -> None:
        self._head: Json = {}
        self._parts: list[Json] = []
        self._finish: Any = None
        # A call that is not complete, and its part
        self._open: Json | None = None
        self._open_part: Json = {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        self._head |= {k: v for k, v in chunk.items() if k != "candidates" and v}
        for candidate in (chunk.get("candidates") or ())[:1]:
            self._finish = _either(candidate, "finishReason", "finish_reason") or self._finish
            for part in (candidate.get("content") or {}).get("parts") or ():
                call = _either(part, "functionCall", "function_call")
                if call is None:
                    self._say(part)
                else:
                    self._join(part, call)

    def _say(self, part: Mapping[str, Any]) -> None:
        """Add a part that is not a call; pieces of the same text become one part."""
        part = {key: value for key, value in part.items() if value is not None}
        last = self._parts[-1] if self._parts else {}
        is_text = isinstance(part.get("text"), str) and isinstance(last.get("text"), _Text)
        if is_text and bool(part.get("thought")) == bool(last.get("thought")):
            last["text"].add(part.pop("text"))
            last |= part
        elif isinstance(part.get("text"), str):
            self._parts.append({**part, "text": _Text(part["text"])})
        else:
            self._parts.append(part)

    def _join(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        if self._open is None or call.get("name"):
            self._open = {k: call.get(k) for k in ("id", "name")}
            self._open["args"] = dict(call.get("args") or {})
            self._open_part = {"functionCall": self._open}
            self._parts.append(self._open_part)
        # Gemini refuses a call that is sent back without the signature of its thought
        sign = _either(part, "thoughtSignature", "thought_signature")
        self._open_part |= {"thoughtSignature": sign} if sign else {}
        for piece in _either(call, "partialArgs", "partial_args") or ():
            put(self._open["args"], piece)
        if not _either(call, "willContinue", "will_continue"):
            self._open = None

    @property
    def message(self) -> Json:
        parts = [
            {**part, "text": str(part["text"])} if "text" in part else part for part in self._parts
        ]
        content = {"role": "model", "parts": parts}
        candidate = {"content": content, "finishReason": self._finish}
        return {**self._head, "candidates": [candidate]}


def _either(data: Mapping[str, Any], one: str, other: str) -> Any:
    return data.get(one) if data.get(one) is not None else data.get(other)


_JOINERS: Mapping[str, Callable[[], _Joiner]] = {
    "choices": _Chat,
    "candidates": _Gemini,
    "promptFeedback": _Gemini,
    "usageMetadata": _Gemini,
}
