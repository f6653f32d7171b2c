"""OpenAI's Responses API.

A message of the model is `{"role": "assistant", "output": [items]}`. Each of its items is kept
unchanged, as one part. The user's messages have a role and content. The result of a call is a
separate item.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes
from toolbench.llm.formats.openai import SHORT_DESCRIPTION, TOOL_NAMES, fitted
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
)
from toolbench.llm.wire.wire import (
    AnyTool,
    GrowingText,
    Stream,
    Wire,
    as_strings,
    call_id,
    compact_json,
    content_of,
    failure_of,
    first_of,
    head_of,
    items_of,
    json_text,
    parts_of,
    role_of,
    string,
    string_or_none,
    usage_of,
    without_none,
)

_TEXTS = {
    "response.output_text.delta": ("text", "output_text"),
    "response.refusal.delta": ("refusal", "refusal"),
}
_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


class _ResponsesStream(Stream):
    """Joins the events of the Responses API; a finished item or response replaces its pieces."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[Any, Json] = {}
        self._places: dict[Any, Any] = {}
        """The key in `_items` of each item, by the id of the item."""

    def _place(self, kind: str, event: Mapping[str, Any]) -> Any:
        """Return the key in `_items` of the item that *event* is about.

        The id of an item is trusted more than its index, which some servers leave out.
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

    def add(self, chunk: Mapping[str, Any]) -> list[Chunk]:
        """Add the next event."""
        kind, delta = string(chunk.get("type")), chunk.get("delta") or ""
        if isinstance(chunk.get("response"), Mapping):
            self._response = dict(chunk["response"])
            return []
        if kind in _THINKING and delta:
            return [Chunk("thinking", delta)]
        place, index = self._place(kind, chunk), chunk.get("output_index") or 0
        if kind in ("response.output_item.added", "response.output_item.done"):
            item = dict(chunk.get("item") or {})
            if isinstance(item.get("content"), list):
                # A copy, which deltas extend
                item["content"] = [*item["content"]]
            self._items[place] = item
            if kind.endswith("added") and item.get("type") == "function_call":
                return [Chunk("call", "", item.get("name"), index)]
        elif kind == "response.function_call_arguments.delta":
            item = self._items.setdefault(place, {"type": "function_call"})
            if not isinstance(item.get("arguments"), GrowingText):
                item["arguments"] = GrowingText(item.get("arguments") or "")
            item["arguments"].add(delta)
            return [Chunk("call", delta, None, index)]
        elif kind == "response.function_call_arguments.done":
            item = self._items.setdefault(place, {"type": "function_call"})
            item["arguments"] = chunk.get("arguments", "")
        elif kind in _TEXTS:
            name, type_ = _TEXTS[kind]
            item = self._items.setdefault(place, {"type": "message"})
            self._part(item, type_, name).add(delta)
            return [Chunk("text", delta)]
        return []

    @staticmethod
    def _part(item: Json, type_: str, name: str) -> GrowingText:
        """Return the string under *name* in the last part of *item*, which is added if needed."""
        parts = item.setdefault("content", [])
        if not parts or not isinstance(parts[-1].get(name), GrowingText):
            parts.append({"type": type_, name: GrowingText()})
        text: GrowingText = parts[-1][name]
        return text

    @property
    def response(self) -> Json:
        """The response so far, in the format of a response that is not streamed."""
        items = self._response.get("output")
        if not items:
            items = [as_strings(item) for item in self._items.values()]
        return {**self._response, "output": items}

    @property
    def has_end(self) -> bool:
        """Whether the response has ended: complete, incomplete or failed."""
        return self._response.get("status") in ("completed", "incomplete", "failed")


class ResponsesWire(Wire):
    """The format of OpenAI's Responses API."""

    provider = "responses"
    title = "OpenAI Responses"
    maker = "OpenAI"
    stream = _ResponsesStream
    parts_key = "output"
    response_keys = frozenset({"output"})
    part_types = frozenset({"function_call", "message", "reasoning"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "completed": "stop",
        "max_output_tokens": "length",
        "content_filter": "refusal",
    }
    call_prefix = "call_"
    remembers_calls = True
    tool_names = TOOL_NAMES
    package = "openai"
    method = "responses.create"
    path = "responses"

    def __init__(self, longest_description: int = SHORT_DESCRIPTION) -> None:
        """Create the format; longer descriptions of tools than *longest_description* are cut."""
        self._longest_description = longest_description

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is an event."""
        return string(chunk.get("type")).startswith("response.")

    def is_whole(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is a whole response."""
        return chunk.get("object") == "response"

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*: a message, an item of the conversation, or a response."""
        head = dict(data)
        if "output" in head and "type" not in head:
            items = tuple(parts_of(items_of(head["output"]), _item_parts))
            return Message("assistant", items, "responses", head)
        if head.get("type") == "function_call_output":
            content = tuple(_content_parts(head.get("output")))
            known = tuple(part for part in content if isinstance(part, TextPart | ImagePart))
            if len(known) < len(content):
                # With a file, which only this provider knows
                return Message("user", (OtherPart(head),), "responses", {})
            result = ToolResultPart(head.get("call_id"), "", known)
            return Message("tool", (result,), "responses", head)
        if "role" not in head or head.get("type", "message") != "message":
            return Message("user", (OtherPart(head),), "responses", {})
        parts = _content_parts(head.get("content"))
        return Message(role_of(head), tuple(parts), "responses", head)

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a response, or its message without the response around it."""
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
            usage_of(data.get("usage"), ["input_tokens"], ["output_tokens"]),
            string_or_none(data.get("id")),
            string_or_none(data.get("model")),
            is_refused=is_refused,
            failure=failure,
        )

    def reread(self, part: TextPart | ThinkingPart) -> TextPart | ThinkingPart:
        """Return *part* with the text that the blocks of its item contain now."""
        blocks = "summary"
        if isinstance(part, TextPart):
            blocks = "content"
        if part.raw is None or blocks not in part.raw:
            return part
        return replace(part, text=_words(part.raw[blocks]))

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; each result of a call becomes a separate item."""
        message = message.sent_to("responses")
        if message.results:
            written = [_result(part, message.raw) for part in message.results]
            others = tuple(part for part in message.parts if part not in message.results)
            if others:
                written += self.write(Message("user", others))
            return written
        head = head_of(message, message.role)
        if message.role == "assistant" and (message.raw is None or "output" in head):
            items = [item for part in message.parts if (item := self._item(part))]
            return [{**head, "output": items}]
        if message.raw == {}:
            return [part.raw for part in message.parts if isinstance(part, OtherPart)]
        return [{**head, "content": content_of(message.parts, head.get("content"), _block)}]

    def _item(self, part: Part) -> Json | None:
        """Return *part* as an item of the model; None for thinking that another provider sent."""
        match part:
            case ToolCallPart():
                return self.write_call(part)
            case TextPart(text, raw):
                if raw is not None and _words(raw["content"]) == text:
                    return raw
                blocks = [{"type": "output_text", "text": text, "annotations": []}]
                return {"type": "message", "role": "assistant", **(raw or {}), "content": blocks}
            case ThinkingPart(text, raw) if raw is not None and _words(raw["summary"]) != text:
                return {**raw, "summary": [{"type": "summary_text", "text": text}]}
            case ImagePart(raw=None):
                return _block(part)
        return part.raw

    def takes(self, image: ImagePart) -> bool:
        """Tell whether *image* may be in a message of the model: only if OpenAI generated it."""
        return as_mapping(image.raw).get("type") == "image_generation_call"

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as an item of `output`."""
        made = {"call_id": call.id, "name": call.name, "arguments": json_text(call.arguments)}
        return {**(call.raw or {"type": "function_call"}), **made}

    def arguments(self, values: Json) -> str:
        """Return *values*, the arguments of a call, as JSON text."""
        return compact_json(values)

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the body of a request for the next message."""
        items: list[Any] = []
        for message in self.accepted(messages):
            for turn in self.write(message):
                if "output" in turn and "role" in turn:
                    items += [without_none(item) for item in turn["output"]]
                else:
                    items.append(turn)
        body: Json = {**options, "model": model, "input": items, "stream": True}
        if tools:
            body["tools"] = list(tools)
        return body

    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool* as a function, `strict` if its schema allows that."""
        exported = tool.to_responses_tool(
            add_security_risk_prediction=security_risk, add_summary=summary
        )
        return fitted(exported, changes, self._longest_description)


def _item_parts(item: Json) -> list[Part]:
    """Return *item* of a model's output as a part; empty if a request must not contain it."""
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
    if kind == "input_image" and isinstance(item.get("image_url"), str):
        # Of another provider's model: `request` shows it as the user's
        return [ImagePart(item["image_url"], item)]
    return [OtherPart(item)]


def _texts_in(blocks: Any) -> list[Json]:
    """Return those of *blocks* that contain text or a refusal."""
    texts: list[Json] = []
    for block in items_of(blocks):
        if isinstance(block, Mapping) and isinstance(block.get("type"), str):
            key = "text"
            if block["type"] == "refusal":
                key = "refusal"
            if isinstance(block.get(key), str):
                texts.append(dict(block))
    return texts


def _words(blocks: list[Json]) -> str:
    text = ""
    for block in blocks:
        text += string(first_of(block, "text", "refusal"))
    return text


def _content_parts(content: Any) -> Iterator[Part]:
    return parts_of(content, _block_parts)


def _block_parts(block: Json) -> Iterator[Part]:
    if block.get("type") == "input_image" and isinstance(block.get("image_url"), str):
        yield ImagePart(block["image_url"], block)
    elif isinstance(block.get("text"), str):
        yield TextPart(block["text"], block)
    else:
        yield OtherPart(block)


def _block(part: Part) -> Json:
    if isinstance(part, TextPart):
        return {**(part.raw or {"type": "input_text"}), "text": part.text}
    if isinstance(part, ImagePart) and part.raw is None:
        return {"type": "input_image", "image_url": part.url, "detail": "auto"}
    return part.raw or {}


def _result(result: ToolResultPart, head: Json | None) -> Json:
    if head is not None:
        content = content_of(result.content, head.get("output"), _block)
        return {**head, "call_id": result.id, "output": content}
    output: str | list[Json] = result.text
    if result.images:
        output = [_block(part) for part in result.content]
    return {"type": "function_call_output", "call_id": result.id or "", "output": output}
