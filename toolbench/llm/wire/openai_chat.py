"""OpenAI's chat completions, which many other servers use too.

A message is read in this order: thinking from `reasoning_content` or `reasoning`; text and images
from the blocks of `content`; then `images` (OpenRouter) and `tool_calls`. A call that is not an
object is left out. Arguments that are not a string become JSON text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes
from toolbench.llm.formats.openai import SHORT_DESCRIPTION, TOOL_NAMES, fitted
from toolbench.llm.message import (
    Chunk,
    ImagePart,
    Message,
    OtherPart,
    Part,
    Provider,
    Response,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    as_mapping,
)
from toolbench.llm.names import NameRule
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
    grow,
    head_of,
    items_of,
    json_text,
    parts_of,
    plain,
    role_of,
    string,
    string_or_none,
    usage_of,
    without_none,
)

_THINKING = ("reasoning_content", "reasoning")


_OWN_OF_CHAT = frozenset({"content", "images", "role", "tool_calls"})
_OWN_OF_CALL = frozenset({"function", "id", "index", "type"})


class _ChatStream(Stream):
    """Joins the chunks of chat completions: names and ids arrive once, arguments in pieces.

    Some servers send the same index for every call, some a new index for every piece, and some
    none. Some send a different id with each piece. So a piece is joined to the call that has its
    id, or else to the call that has its index. A piece with neither is joined to the call that got
    the previous piece.
    """

    def __init__(self) -> None:
        self._head: Json = {}
        self._content = GrowingText()
        self._other: Json = {}
        self._images: list[Any] = []
        self._calls: list[Json] = []
        self._by_id: dict[Any, Json] = {}
        self._by_index: dict[Any, Json] = {}
        self._open: Json | None = None
        """The call that got the last piece."""
        self._finish: Any = None

    def add(self, chunk: Mapping[str, Any]) -> list[Chunk]:
        """Add the next chunk."""
        for key in ("id", "model", "usage"):
            if chunk.get(key):
                self._head[key] = chunk[key]
        pieces: list[Chunk] = []
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self._finish = choice.get("finish_reason") or self._finish
            self._content.add(delta.get("content"))
            grow(self._other, {k: v for k, v in delta.items() if k not in _OWN_OF_CHAT})
            self._images += delta.get("images") or ()
            if thinking := first_of(delta, *_THINKING):
                pieces.append(Chunk("thinking", thinking))
            if text := delta.get("content") or delta.get("refusal"):
                pieces.append(Chunk("text", text))
            parts = delta.get("tool_calls") or ()
            for place, part in enumerate(parts):
                index = part.get("index")
                if index is None and len(parts) > 1:
                    index = place
                self._join(index, part)
                function = part.get("function") or {}
                arguments, name = function.get("arguments") or "", function.get("name") or None
                pieces.append(Chunk("call", arguments, name, index or 0))
        return pieces

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
            joined = {"name": "", "arguments": GrowingText()}
            call = {"id": None, "type": "function", "function": joined}
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
        grow(call, others)
        grow(joined, {k: v for k, v in function.items() if k not in ("name", "arguments")})

    def _begins_another(self, call: Json, index: Any, id_: Any, function: Any) -> bool:
        """Tell whether a piece that seems to belong to *call* is the first of another call.

        The first piece of a call has a name. But some servers repeat the name, and some send it in
        pieces.
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
    def response(self) -> Json:
        """The completion so far, in the format of a completion that is not streamed."""
        message: Json = {
            "role": "assistant",
            "content": str(self._content),
            "tool_calls": as_strings(self._calls),
        }
        for key, value in as_strings(self._other).items():
            if value:
                message[key] = value
        if self._images:
            message["images"] = self._images
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._head, "choices": [choice]}

    @property
    def has_end(self) -> bool:
        """Whether the provider has sent a `finish_reason`."""
        return bool(self._finish)


def _is_object(arguments: str) -> bool:
    """Tell whether *arguments* are the complete JSON text of an object."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


class OpenAIChatWire(Wire):
    """The format of OpenAI's chat completions."""

    provider: ClassVar[Provider] = "openai"
    title = "OpenAI chat completions"
    maker = "OpenAI"
    stream = _ChatStream
    parts_key = "tool_calls"
    response_keys = frozenset({"choices"})
    part_types = frozenset({"function", "custom"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "function_call": "tool_calls",
        "content_filter": "refusal",
    }
    call_prefix = "call_"
    tool_names: ClassVar[NameRule | None] = TOOL_NAMES
    package: ClassVar[str | None] = "openai"
    method = "chat.completions.create"
    path: ClassVar[str | None] = "chat/completions"

    def __init__(self, longest_description: int = SHORT_DESCRIPTION) -> None:
        """Create the format; longer descriptions of tools than *longest_description* are cut."""
        self._longest_description = longest_description

    def is_message(self, data: Mapping[str, Any]) -> bool:
        """Tell whether *data* looks like a response, a choice or a message with calls."""
        if first_of(data, "tool_calls", "message") is not None or self.is_response(data):
            return True
        # The old form; Gemini has `args`
        return first_of(data.get("function_call"), "arguments") is not None

    def is_whole(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is a whole completion."""
        choices = chunk.get("choices") or [{}]
        return isinstance(choices[0].get("message"), Mapping)

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*, a message of a conversation."""
        head = dict(data)
        role = role_of(head)
        if role == "assistant":
            _mend(head)
            return Message(role, tuple(_parts(head)), "openai", head)
        parts = tuple(_content_parts(head.get("content")))
        content = tuple(part for part in parts if isinstance(part, TextPart | ImagePart))
        # A block that only its server knows goes back with the others, as it is
        if role == "tool" and len(content) == len(parts):
            id_, name = head.get("tool_call_id"), string(head.get("name"))
            parts = (ToolResultPart(id_, name, content),)
        return Message(role, parts, "openai", head)

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a chat completion, or its message alone."""
        failure = None
        choice: Mapping[str, Any] = data
        if "choices" in data:
            choices = items_of(data["choices"])
            if not choices:
                failure = failure_of(data, "The model's response has no choices in it.")
            choice = as_mapping(next(iter(choices), None))
        message = data
        if choice is not data or data.get("message") is not None:
            message = as_mapping(plain(first_of(choice, "message", "delta")))
        head: Json = {"role": "assistant", "content": None, **without_none(message)}
        head["role"] = "assistant"
        return Response(
            self.read(head),
            string_or_none(choice.get("finish_reason")),
            usage_of(data.get("usage"), ["prompt_tokens"], ["completion_tokens"]),
            string_or_none(data.get("id")),
            string_or_none(data.get("model")),
            is_refused=bool(head.get("refusal")),
            failure=failure,
        )

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; images in results follow in a message of the user."""
        message = message.sent_to("openai")
        if message.results:
            return _results(message)
        head = head_of(message, message.role)
        if message.role == "assistant":
            return [self._of_model(head, message)]
        if message.parts or "content" not in head:
            head["content"] = content_of(message.parts, head.get("content"), _block)
        return [head]

    def _of_model(self, head: Json, message: Message) -> Json:
        """Return *head* with the parts of *message*, a message of the model, written into it."""
        texts: list[Part] = []
        images: list[Any] = []
        for part in message.parts:
            raw = part.raw or {}
            if isinstance(part, ThinkingPart):
                head |= dict.fromkeys(raw, part.text)
            elif "images" in raw:
                images.append(raw["images"])
            elif not isinstance(part, ToolCallPart):
                texts.append(part)
        if texts:
            head["content"] = content_of(texts, head.get("content"), _block)
        elif message.raw is None:
            head["content"] = ""
            if message.calls:
                head["content"] = None
        if images or "images" in head:
            head["images"] = images
        self._put_calls(head, message.calls)
        return head

    def _put_calls(self, head: Json, calls: Sequence[ToolCallPart]) -> None:
        written: list[Json] = []
        for call in calls:
            if call.raw is not None and "function_call" in call.raw:
                head["function_call"] = _function(call.raw["function_call"], call)
            else:
                written.append(self.write_call(call))
        if written:
            head["tool_calls"] = written

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as an entry of `tool_calls`."""
        raw = call.raw or {"id": None, "type": "function"}
        custom = raw.get("custom")
        if raw.get("type") == "custom" and isinstance(custom, Mapping):
            made = {**custom, "name": call.name, "input": json_text(call.arguments)}
            return {**raw, "id": call.id, "custom": made}
        function = _function(raw.get("function"), call)
        return {**raw, "id": call.id, "type": "function", "function": function}

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
        turns: list[Json] = []
        for message in self.accepted(messages):
            turns += [_accepted(turn) for turn in self.write(message)]
        body: Json = {
            "stream_options": {"include_usage": True},
            **options,
            "model": model,
            "messages": turns,
            "stream": True,
        }
        if tools:
            body["tools"] = list(tools)
        return body

    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool* as a function, `strict` if its schema allows that."""
        exported = tool.to_openai_tool(
            add_security_risk_prediction=security_risk, add_summary=summary
        )
        function = fitted(exported["function"], changes, self._longest_description)
        return {**exported, "function": function}


_TYPES: Mapping[str, Any] = {
    "content": str | list | tuple,
    "refusal": str | None,
    "reasoning_content": str | None,
    "reasoning": str | None,
    "function_call": Mapping | None,
}
"""The types that fields of the model's message must have."""


def _mend(head: Json) -> None:
    """Remove from *head*, a message of the model, the fields that a request must not contain."""
    for key, kind in _TYPES.items():
        if key in head and not isinstance(head[key], kind):
            head[key] = None
    for key in ("content", "tool_calls", "images"):
        value = head.get(key)
        if value is not None and not isinstance(value, str):
            head[key] = [item for item in items_of(value) if isinstance(item, Mapping)]
    if not head.get("tool_calls"):
        head.pop("tool_calls", None)


def _parts(head: Json) -> Iterator[Part]:
    for key in _THINKING:
        if isinstance(head.get(key), str):
            yield ThinkingPart(head[key], {key: head[key]})
            break
    yield from _content_parts(head.get("content"))
    for image in head.get("images") or ():
        url = first_of(as_mapping(image).get("image_url"), "url")
        if isinstance(url, str):
            yield ImagePart(url, {"images": image})
    for call in head.get("tool_calls") or ():
        function = first_of(call, "function", "custom")
        arguments = first_of(function, "arguments", "input")
        name = string(first_of(function, "name"))
        yield ToolCallPart(name, arguments, call_id(first_of(call, "id")), raw=call)
    if (old := head.get("function_call")) is not None:
        name = string(first_of(old, "name"))
        yield ToolCallPart(name, first_of(old, "arguments"), raw={"function_call": old})


def _content_parts(content: Any) -> Iterator[Part]:
    return parts_of(content, _block_parts)


def _block_parts(block: Json) -> Iterator[Part]:
    kind, url = block.get("type"), block.get("image_url")
    url = as_mapping(url).get("url", url)
    if kind in ("text", "refusal"):
        if isinstance(block.get(kind), str):
            yield TextPart(block[kind], block)
    elif kind == "image_url" and isinstance(url, str):
        yield ImagePart(url, block)
    elif isinstance(kind, str):
        yield OtherPart(block)


def _block(part: Part) -> Json:
    if isinstance(part, TextPart):
        raw = part.raw or {"type": "text"}
        return {**raw, raw["type"]: part.text}
    if isinstance(part, ImagePart):
        return part.raw or {"type": "image_url", "image_url": {"url": part.url}}
    return part.raw or {}


def _function(before: Any, call: ToolCallPart) -> Json:
    return {**as_mapping(before), "name": call.name, "arguments": json_text(call.arguments)}


def _results(message: Message) -> list[Json]:
    """Return the results in *message*; images and other parts follow in a user's message."""
    written: list[Json] = []
    others: list[Json] = []
    for part in message.parts:
        if not isinstance(part, ToolResultPart):
            others.append(_block(part))
        elif message.raw is not None:
            content = content_of(part.content, message.raw.get("content"), _block)
            written.append({**message.raw, "tool_call_id": part.id, "content": content})
        else:
            written.append({"role": "tool", "tool_call_id": part.id or "", "content": part.text})
            if part.images:
                title = f"What the call {part.id or part.name} of {part.name} returned:"
                others.append({"type": "text", "text": title})
                others += [_block(image) for image in part.images]
    if others:
        written.append({"role": "user", "content": others})
    return written


def _accepted(turn: Json) -> Json:
    """Return *turn* without the fields that only answers have."""
    turn = dict(turn)
    turn.pop("images", None)
    # With calls, some providers require it
    if not turn.get("tool_calls"):
        turn.pop("reasoning_content", None)
    return turn
