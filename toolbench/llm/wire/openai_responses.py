"""OpenAI's Responses API.

A message of the model is `{"role": "assistant", "output": [items]}`: its items as they came, each one
part. The user's messages have a role and content; the result of a call is an item of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.message import (
    Chunk,
    ImagePart,
    Message,
    OtherPart,
    Part,
    Response,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    as_mapping,
    with_written_results,
)
from toolbench.llm.wire.wire import (
    GrowingText,
    Stream,
    Wire,
    as_strings,
    call_id,
    failure_of,
    first_of,
    items_of,
    json_text,
    string,
    string_or_none,
    usage_of,
    without_none,
)


class ResponsesWire(Wire):
    """The format of OpenAI's Responses API."""

    provider = "responses"
    whole_keys = ("output",)
    part_types = frozenset({"function_call", "message", "reasoning"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "completed": "stop",
        "max_output_tokens": "length",
        "content_filter": "refusal",
    }

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*: a message, an item of the conversation, or a response."""
        head = dict(data)
        if "output" in head and head.get("type") != "function_call_output":
            parts: list[Part] = []
            for item in items_of(head["output"]):
                if isinstance(item, Mapping):
                    parts += _item_parts(dict(item))
            return Message("assistant", tuple(parts), "responses", head)
        if head.get("type") == "function_call_output":
            content = tuple(_content_parts(head.get("output")))
            known = tuple(part for part in content if isinstance(part, TextPart | ImagePart))
            if len(known) < len(content):
                # With a file, which only this provider knows
                return Message("user", (OtherPart(head),), "responses", {})
            result = ToolResultPart(head.get("call_id"), "", known)
            return Message("tool", (result,), "responses", head)
        if "role" not in head:
            return Message("user", (OtherPart(head),), "responses", {})
        parts = list(_content_parts(head.get("content")))
        return Message(string(head["role"]), tuple(parts), "responses", head)

    def read_parts(self, parts: Sequence[Any]) -> Message:
        """Read *parts*, the items of an answer."""
        return self.read({"role": "assistant", "output": list(parts)})

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a response, or its message alone."""
        failure = None
        if data.get("status") == "failed" or data.get("error"):
            failure = failure_of(data, "The model's response failed.")
        message = self.read_parts(items_of(data.get("output")))
        details = as_mapping(data.get("incomplete_details"))
        is_refused = False
        for part in message.parts:
            for block in items_of(as_mapping(part.raw).get("content")):
                is_refused = is_refused or as_mapping(block).get("type") == "refusal"
        return Response(
            message,
            string_or_none(details.get("reason") or data.get("status")),
            usage_of(data.get("usage"), ["input_tokens"], "output_tokens"),
            string_or_none(data.get("id")),
            string_or_none(data.get("model")),
            is_refused=is_refused,
            failure=failure,
        )

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; each result of a call is an item of its own."""
        is_own = message.provider == "responses"
        head = dict(message.raw or {}) if is_own else {}
        if message.results:
            return [_result(part, head) for part in message.results]
        if message.role == "assistant" and (not is_own or "output" in head):
            items = [_item(part, is_own=is_own) for part in message.parts]
            return [{"role": "assistant", **head, "output": items}]
        if is_own and not head:
            return [part.raw for part in message.parts if isinstance(part, OtherPart)]
        content = _content(message.parts, head.get("content"), is_own=is_own)
        return [{"role": message.role, **head, "content": content}]

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as an item of `output`."""
        return _item(call, is_own=False)

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the body of a request for the next message."""
        items: list[Any] = []
        for message in with_written_results(messages, "responses"):
            for turn in self.write(message):
                if "output" in turn and "role" in turn:
                    items += [without_none(item) for item in turn["output"]]
                else:
                    items.append(turn)
        body: Json = {**options, "model": model, "input": items, "stream": True}
        if tools:
            body["tools"] = list(tools)
        return body

    def stream(self) -> Stream:
        """Return what joins the events of one answer."""
        return _ResponsesStream()


def _item_parts(item: Json) -> list[Part]:
    """Return *item* of a model's output as a part; none if no request could carry it again."""
    kind = item.get("type")
    if not isinstance(kind, str):
        return []
    if kind == "function_call":
        id_ = call_id(item.get("call_id")) or call_id(item.get("id"))
        return [ToolCallPart(string(item.get("name")), item.get("arguments"), id_, raw=item)]
    if kind == "message":
        content = item.get("content")
        if isinstance(content, str):
            content = [{"type": "output_text", "text": content, "annotations": []}]
        raw = {**item, "role": "assistant", "content": _texts_in(content)}
        return [TextPart(_words(raw["content"]), raw)]
    if kind == "reasoning":
        raw = {**item, "summary": _texts_in(item.get("summary"))}
        return [ThinkingPart(_words(raw["summary"]), raw)]
    if kind == "image_generation_call" and item.get("result"):
        form = item.get("output_format") or "png"
        return [ImagePart(f"data:image/{form};base64,{item['result']}", item)]
    return [OtherPart(item)]


def _texts_in(blocks: Any) -> list[Json]:
    """Return those of *blocks* that are texts, or refusals."""
    texts: list[Json] = []
    for block in items_of(blocks):
        if isinstance(block, Mapping) and isinstance(block.get("type"), str):
            key = "refusal" if block["type"] == "refusal" else "text"
            if isinstance(block.get(key), str):
                texts.append(dict(block))
    return texts


def _words(blocks: list[Json]) -> str:
    return "".join(string(first_of(block, "text", "refusal")) for block in blocks)


def _content_parts(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield TextPart(content)
        return
    for block in items_of(content):
        if not isinstance(block, Mapping):
            continue
        raw = dict(block)
        if block.get("type") == "input_image" and isinstance(block.get("image_url"), str):
            yield ImagePart(block["image_url"], raw)
        elif isinstance(block.get("text"), str):
            yield TextPart(block["text"], raw)
        else:
            yield OtherPart(raw)


def _item(part: Part, *, is_own: bool) -> Json:
    raw = part.raw if is_own else None
    match part:
        case ToolCallPart():
            if raw is None:
                raw = {"type": "function_call", "call_id": None, "name": None, "arguments": None}
            arguments = json_text(part.arguments)
            return {**raw, "call_id": part.id, "name": part.name, "arguments": arguments}
        case TextPart(text):
            return _with_text(raw, "content", text)
        case ThinkingPart(text) if raw is not None:
            return _with_text(raw, "summary", text)
        case ImagePart() if raw is None:
            return {}
    return raw or {}


def _with_text(raw: Json | None, key: str, text: str) -> Json:
    """Return *raw*, an item whose text is in blocks under *key*, with *text*."""
    if raw is not None and _words(raw[key]) == text:
        return raw
    if key == "summary":
        return {**(raw or {}), key: [{"type": "summary_text", "text": text}]}
    blocks = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", **(raw or {}), key: blocks}


def _content(parts: Sequence[Part], before: Any, *, is_own: bool) -> Any:
    """Return *parts* as `content`; *before* is what it was, whose form (text or a list) stays."""
    if not parts:
        return "" if before is None else before
    is_text = all(isinstance(part, TextPart) for part in parts)
    if is_text and (isinstance(before, str) or (before is None and len(parts) == 1)):
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    return [_block(part, is_own=is_own) for part in parts]


def _block(part: Part, *, is_own: bool) -> Json:
    match part:
        case TextPart(text, raw):
            if raw is None or not is_own:
                raw = {"type": "input_text", "text": text}
            return {**raw, "text": text}
        case ImagePart(url, raw):
            if raw is None or not is_own:
                raw = {"type": "input_image", "image_url": url, "detail": "auto"}
            return raw
        case OtherPart(raw):
            return raw
    return {"type": "input_text", "text": ""}


def _result(result: ToolResultPart, head: Json) -> Json:
    if head:
        content = _content(result.content, head.get("output"), is_own=True)
        return {**head, "call_id": result.id, "output": content}
    output: str | list[Json] = "\n".join(
        part.text for part in result.content if isinstance(part, TextPart)
    )
    if result.images:
        output = [_block(part, is_own=False) for part in result.content]
    return {"type": "function_call_output", "call_id": result.id or "", "output": output}


# --- joining events -------------------------------------------------------------------

_TEXTS = {
    "response.output_text.delta": ("text", "output_text"),
    "response.refusal.delta": ("refusal", "refusal"),
}


class _ResponsesStream(Stream):
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
        if place is None and id_:
            place = id_
        if place is None:
            place = len(self._items)
            if not is_first:
                place -= 1
        if id_:
            self._places[id_] = place
        return place

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add the next event."""
        kind = chunk.get("type", "")
        if isinstance(chunk.get("response"), Mapping):
            self._response = dict(chunk["response"])
            return
        place = self._place(kind, chunk)
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = dict(chunk.get("item") or {})
            if isinstance(item.get("content"), list):
                # A copy, which deltas extend
                item["content"] = [*item["content"]]
            self._items[place] = item
        elif kind == "response.function_call_arguments.delta":
            item = self._items.setdefault(place, {"type": "function_call"})
            if not isinstance(item.get("arguments"), GrowingText):
                item["arguments"] = GrowingText(item.get("arguments") or "")
            item["arguments"].add(chunk.get("delta"))
        elif kind == "response.function_call_arguments.done":
            item = self._items.setdefault(place, {"type": "function_call"})
            item["arguments"] = chunk.get("arguments", "")
        elif kind in _TEXTS:
            name, type_ = _TEXTS[kind]
            item = self._items.setdefault(place, {"type": "message"})
            self._part(item, type_, name).add(chunk.get("delta"))

    @staticmethod
    def _part(item: Json, type_: str, name: str) -> GrowingText:
        """Return the text under *name* in the last part of *item*; add a part if there is none."""
        parts = item.setdefault("content", [])
        if not parts or not isinstance(parts[-1].get(name), GrowingText):
            parts.append({"type": type_, name: GrowingText()})
        text: GrowingText = parts[-1][name]
        return text

    @property
    def response(self) -> Json:
        """The response so far."""
        items = self._response.get("output")
        if not items:
            items = [as_strings(item) for item in self._items.values()]
        return {**self._response, "output": items}

    @property
    def has_end(self) -> bool:
        """Whether the response is complete, or known to stay incomplete."""
        return self._response.get("status") in ("completed", "incomplete", "failed")

    def pieces(self, chunk: Mapping[str, Any]) -> Iterator[Chunk]:
        """Yield what *chunk* adds to the answer."""
        index, delta = chunk.get("output_index") or 0, chunk.get("delta") or ""
        match str(chunk.get("type")).removeprefix("response."):
            case "output_text.delta" | "refusal.delta":
                yield Chunk("text", delta)
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                yield Chunk("thinking", delta)
            case "function_call_arguments.delta":
                yield Chunk("call", delta, None, index)
            case "output_item.added":
                item = chunk.get("item") or {}
                if item.get("type") == "function_call":
                    yield Chunk("call", "", item.get("name"), index)
