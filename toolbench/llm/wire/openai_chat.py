"""OpenAI's chat completions, which many servers speak.

A message is read like this: its `reasoning_content` or `reasoning` is thinking; the blocks of its
`content` are text and images; then come its `images` (OpenRouter) and its `tool_calls`. A call that is no
object is left out; arguments that are no string become JSON text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from toolbench.jsonschema.types import Json
from toolbench.llm.message import (
    IMAGE,
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
from toolbench.llm.providers import Provider
from toolbench.llm.wire.wire import (
    DATA_URL,
    GrowingText,
    Stream,
    Wire,
    as_strings,
    call_id,
    failure_of,
    first_of,
    grow,
    items_of,
    json_text,
    plain,
    string,
    string_or_none,
    usage_of,
)

_THINKING = ("reasoning_content", "reasoning")
_STRINGS = ("refusal", *_THINKING)
"""Fields of a model's message that are left out if they are no strings."""


class OpenAIChatWire(Wire):
    """The format of OpenAI's chat completions."""

    provider: ClassVar[Provider] = "openai"
    whole_keys: ClassVar[Sequence[str]] = ("choices", "tool_calls", "message")
    part_types = frozenset({"function", "custom"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "function_call": "tool_calls",
        "content_filter": "refusal",
    }

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*, a message of a conversation."""
        head = dict(data)
        role = string(head.get("role")) or "assistant"
        if role == "tool":
            content = tuple(_content_parts(head.get("content")))
            texts = tuple(part for part in content if isinstance(part, TextPart | ImagePart))
            part = ToolResultPart(head.get("tool_call_id"), string(head.get("name")), texts)
            return Message(role, (part,), "openai", head)
        if role != "assistant":
            parts = tuple(_content_parts(head.get("content")))
            return Message(role, parts, "openai", head)
        _mend(head)
        return Message(role, tuple(_parts(head)), "openai", head)

    def read_parts(self, parts: Sequence[Any]) -> Message:
        """Read *parts*, an answer's `tool_calls`."""
        return self.read({"role": "assistant", "content": None, "tool_calls": list(parts)})

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a chat completion, or its message alone."""
        failure = None
        choice: Mapping[str, Any] = {}
        message: Mapping[str, Any] = data
        if "choices" in data:
            choices = items_of(data["choices"])
            if not choices:
                failure = failure_of(data, "The model's response has no choices in it.")
            choice = as_mapping(next(iter(choices), None))
            message = as_mapping(plain(first_of(choice, "message", "delta")))
        elif data.get("message") is not None:
            choice = data
            message = as_mapping(plain(data["message"]))
        head: Json = {"role": "assistant", "content": None}
        for key, value in message.items():
            if value is not None:
                head[key] = value
        head["role"] = "assistant"
        return Response(
            self.read(head),
            string_or_none(choice.get("finish_reason")),
            usage_of(data.get("usage"), ["prompt_tokens"], "completion_tokens"),
            string_or_none(data.get("id")),
            string_or_none(data.get("model")),
            is_refused=bool(head.get("refusal")),
            failure=failure,
        )

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; a result of a call cannot hold images, which follow as the user's."""
        if message.role == "tool" or message.results:
            return self._written_results(message)
        head = _head_of(message)
        if message.role != "assistant":
            return [head | {"content": _content(message.parts, head.get("content"))}]
        for part in message.parts:
            if isinstance(part, ThinkingPart) and part.raw:
                head |= dict.fromkeys(part.raw, part.text)
        texts = [part for part in message.parts if _is_content(part)]
        if texts:
            head["content"] = _content(texts, head.get("content"))
        elif message.raw is None or message.provider != "openai":
            head["content"] = None if message.calls else ""
        images: list[Any] = []
        for part in message.parts:
            if isinstance(part, ImagePart) and part.raw is not None and "images" in part.raw:
                images.append(part.raw["images"])
        if images:
            head["images"] = images
        self._put_calls(head, message)
        return [head]

    def _put_calls(self, head: Json, message: Message) -> None:
        calls: list[Json] = []
        for call in message.calls:
            if (
                call.raw is not None
                and "function_call" in call.raw
                and message.provider == "openai"
            ):
                function = _function(call.raw["function_call"], call)
                head["function_call"] = function
            else:
                raw = call.raw if message.provider == "openai" else None
                calls.append(_call(call, raw))
        if calls:
            head["tool_calls"] = calls

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as an entry of `tool_calls`."""
        return _call(call, None)

    def _written_results(self, message: Message) -> list[Json]:
        written: list[Json] = []
        images: list[Json] = []
        for result in message.results:
            text = _result_text(result)
            if message.provider == "openai" and message.raw is not None:
                head = dict(message.raw)
                content = _content(result.content, head.get("content"))
                written.append(head | {"tool_call_id": result.id, "content": content})
                continue
            written.append({"role": "tool", "tool_call_id": result.id or "", "content": text})
            if result.images:
                title = f"What the call {result.id or result.name} of {result.name} returned:"
                images.append({"type": "text", "text": title})
                images += [_image(part) for part in result.images]
        if images:
            written.append({"role": "user", "content": images})
        return written

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the body of a request for the next message."""
        turns: list[Json] = []
        for message in with_written_results(messages, "openai"):
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

    def stream(self) -> Stream:
        """Return what joins the chunks of one answer."""
        return _ChatStream()


def _mend(head: Json) -> None:
    """Take out of *head*, a message of the model, what no request can carry."""
    content = head.get("content")
    if isinstance(content, list | tuple):
        head["content"] = [
            plain(part) for part in content if isinstance(plain(part), Mapping | str)
        ]
    elif not isinstance(content, str | None):
        head["content"] = None
    for key in _STRINGS:
        if key in head and not isinstance(head[key], str):
            del head[key]
    for key in ("tool_calls", "images"):
        if key in head:
            head[key] = [item for item in items_of(head[key]) if isinstance(item, Mapping)]
    if not head.get("tool_calls"):
        head.pop("tool_calls", None)
    if not isinstance(head.get("function_call"), Mapping):
        head.pop("function_call", None)


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
    """Yield the parts of *content*: text, or a list of blocks."""
    if isinstance(content, str):
        if content:
            yield TextPart(content)
        return
    for block in items_of(content):
        if isinstance(block, str):
            yield TextPart(block)
            continue
        if not isinstance(block, Mapping):
            continue
        kind = block.get("type")
        text = first_of(block, "refusal", "text")
        if kind in ("text", "refusal") and isinstance(text, str):
            yield TextPart(text, dict(block))
        elif kind == "image_url" and isinstance(url := _url_of(block), str):
            yield ImagePart(url, dict(block))
        elif isinstance(kind, str) and kind not in ("text", "refusal"):
            yield OtherPart(dict(block))


def _url_of(block: Mapping[str, Any]) -> Any:
    image = block.get("image_url")
    if isinstance(image, Mapping):
        return image.get("url")
    return image


def _head_of(message: Message) -> Json:
    if message.provider == "openai" and message.raw is not None:
        return dict(message.raw)
    return {"role": message.role}


def _is_content(part: Part) -> bool:
    if isinstance(part, TextPart | OtherPart):
        return True
    return isinstance(part, ImagePart) and not _is_of_router(part)


def _is_of_router(part: Part) -> bool:
    return isinstance(part, ImagePart) and part.raw is not None and "images" in part.raw


def _content(parts: Sequence[Part], before: Any) -> Any:
    """Return *parts* as `content`; *before* is what it was, whose form (text or a list) stays."""
    if not parts:
        return "" if before is None else before
    is_text = all(isinstance(part, TextPart) for part in parts)
    if is_text and (isinstance(before, str) or (before is None and len(parts) == 1)):
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    return [_block(part) for part in parts]


def _block(part: Part) -> Json:
    match part:
        case TextPart(text, raw):
            if raw is None or raw.get("type") not in ("text", "refusal"):
                return {"type": "text", "text": text}
            return {**raw, raw["type"]: text}
        case ImagePart():
            return _image(part)
        case OtherPart(raw):
            return raw
    return {"type": "text", "text": ""}


def _image(part: ImagePart) -> Json:
    if part.raw is not None and part.raw.get("type") == "image_url":
        return part.raw
    return {"type": "image_url", "image_url": {"url": part.url}}


def _call(call: ToolCallPart, raw: Json | None) -> Json:
    if raw is None:
        function = {"name": call.name, "arguments": json_text(call.arguments)}
        return {"id": call.id, "type": "function", "function": function}
    written = {**raw, "id": call.id}
    custom = raw.get("custom")
    if raw.get("type") == "custom" and isinstance(custom, Mapping):
        return {**written, "custom": {"name": call.name, "input": json_text(call.arguments)}}
    written.pop("custom", None)
    return {**written, "type": "function", "function": _function(raw.get("function"), call)}


def _function(before: Any, call: ToolCallPart) -> Json:
    arguments = json_text(call.arguments)
    return {**as_mapping(before), "name": call.name, "arguments": arguments}


def _result_text(result: ToolResultPart) -> str:
    lines: list[str] = []
    for part in result.content:
        lines.append(part.text if isinstance(part, TextPart) else image_words(part.url))
    return "\n".join(lines)


def image_words(url: str) -> str:
    """Return the words for the image at *url* where only text is accepted."""
    if data := DATA_URL.match(url):
        return f"[image: {data[1]}]"
    return f"[image: {url}]"


def _accepted(turn: Json) -> Json:
    """Return *turn* without the fields that only answers have.

    In a message of the model, words replace each image, because only text is accepted there.
    """
    turn = dict(turn)
    images = turn.pop("images", None)
    if turn.get("role") == "assistant":
        content = turn.get("content")
        if isinstance(content, list):
            turn["content"] = [_as_words(part) for part in content]
        elif images and not content and not turn.get("tool_calls"):
            turn["content"] = IMAGE
    # With calls, some providers require it
    if not turn.get("tool_calls"):
        turn.pop("reasoning_content", None)
    return turn


def _as_words(block: Any) -> Any:
    if as_mapping(block).get("type") == "image_url":
        return {"type": "text", "text": IMAGE}
    return block


# --- joining chunks -------------------------------------------------------------------

_OWN_OF_CHAT = frozenset({"content", "images", "role", "tool_calls"})
_OWN_OF_CALL = frozenset({"function", "id", "index", "type"})


class _ChatStream(Stream):
    """Joins the chunks of chat completions: names and ids arrive once, arguments in pieces.

    Servers number calls in ways of their own: each with 0, each piece anew, or not at all; some
    send another id with each piece. A known id says more than the index, and a piece without
    both belongs to the call that is open.
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

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Add the next chunk."""
        for key in ("id", "model", "usage"):
            if chunk.get(key):
                self._head[key] = chunk[key]
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            self._finish = choice.get("finish_reason") or self._finish
            self._content.add(delta.get("content"))
            grow(self._other, {k: v for k, v in delta.items() if k not in _OWN_OF_CHAT})
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
    def response(self) -> Json:
        """The completion so far."""
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
        """Whether there was a `finish_reason`."""
        return bool(self._finish)

    def pieces(self, chunk: Mapping[str, Any]) -> Iterator[Chunk]:
        """Yield what *chunk* adds to the answer."""
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
                yield Chunk("thinking", str(thinking))
            if text := delta.get("content") or delta.get("refusal"):
                yield Chunk("text", str(text))
            for place, part in enumerate(delta.get("tool_calls") or ()):
                function, index = part.get("function") or {}, part.get("index")
                if not isinstance(index, int):
                    index = place
                arguments = function.get("arguments") or ""
                yield Chunk("call", arguments, function.get("name") or None, index)


def _is_object(arguments: str) -> bool:
    """Tell whether *arguments* are complete: the JSON text of an object."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
