"""Anthropic's Messages API.

The content of a message is a string or a list of blocks. Each block becomes one part: text,
thinking with its signature, an image, a call (`tool_use`), a result (`tool_result`), or a block
that only Anthropic understands. Results are in a message of the user.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolbench.jsonschema.compose import with_limits_as_numbers
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import rewritten
from toolbench.llm.formats.arguments import Changes, plain_root
from toolbench.llm.message import (
    DATA_URL,
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
    instructions,
)
from toolbench.llm.names import NameRule
from toolbench.llm.wire.wire import (
    AnyTool,
    GrowingText,
    Stream,
    Wire,
    as_object,
    as_sent_first,
    as_strings,
    call_id,
    first_of,
    grow,
    head_of,
    items_of,
    joined_turns,
    json_value,
    parts_of,
    role_of,
    string,
    string_or_none,
    usage_of,
    without_none,
)

MOST_TOKENS = 8_192
"""The limit on the tokens of an answer, which Anthropic's API requires; `options` can change it."""
_TOOL_NAMES = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 128, "128 letters, digits, '_' and '-'")
_ARGUMENT_NAMES = NameRule(
    "a-zA-Z0-9_.-", "a-zA-Z0-9_.-", 64, "64 letters, digits, '_', '.' and '-'"
)


class _AnthropicStream(Stream):
    """Joins the events of the Messages API; the input of a tool arrives as pieces of JSON."""

    def __init__(self) -> None:
        self._message: Json = {"type": "message"}
        self._blocks: list[Json] = []
        self._by_index: dict[Any, Json] = {}

    def add(self, chunk: Mapping[str, Any]) -> list[Chunk]:
        """Add the next event."""
        kind, place = chunk.get("type"), chunk.get("index")
        if kind == "message_start":
            self._message |= chunk.get("message") or {}
        elif kind == "content_block_start":
            block = chunk.get("content_block") or {}
            self._begin(place, block)
            if block.get("type") == "tool_use":
                return [Chunk("call", "", block.get("name"), place or 0)]
        elif kind == "content_block_delta":
            if place not in self._by_index:
                self._begin(place, {})
            return self._join(self._by_index[place], chunk.get("delta") or {}, place or 0)
        elif kind == "message_delta":
            self._message |= {k: v for k, v in (chunk.get("delta") or {}).items() if v}
            used = {k: v for k, v in (chunk.get("usage") or {}).items() if v}
            self._message["usage"] = (self._message.get("usage") or {}) | used
        return []

    def _begin(self, place: Any, block: Mapping[str, Any]) -> None:
        """Add *block* as the block at *place*; some servers give several blocks the same index."""
        begun: Json = {}
        grow(begun, block)
        self._by_index[place] = begun
        self._blocks.append(begun)

    @staticmethod
    def _join(block: Json, delta: Mapping[str, Any], index: int) -> list[Chunk]:
        others = {key: value for key, value in delta.items() if key != "type"}
        arguments, citation = others.pop("partial_json", None), others.pop("citation", None)
        if isinstance(arguments, str):
            if not isinstance(block.get("input"), GrowingText):
                block["input"] = GrowingText()
            block["input"].add(arguments)
        if citation is not None:
            others["citations"] = [citation]
        grow(block, others)
        pieces: list[Chunk] = []
        if delta.get("text"):
            pieces.append(Chunk("text", delta["text"]))
        if delta.get("thinking"):
            pieces.append(Chunk("thinking", delta["thinking"]))
        if arguments:
            pieces.append(Chunk("call", arguments, None, index))
        return pieces

    @property
    def response(self) -> Json:
        """The message so far, in the format of a message that is not streamed."""
        return {**self._message, "content": as_strings(self._blocks)}

    @property
    def has_end(self) -> bool:
        """Whether the provider has sent a `stop_reason`."""
        return bool(self._message.get("stop_reason"))


class AnthropicWire(Wire):
    """The format of Anthropic's Messages API."""

    provider = "anthropic"
    title = "Anthropic"
    maker = "Anthropic"
    stream = _AnthropicStream
    parts_key = "content"
    part_types = frozenset({"tool_use", "text", "thinking"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
    }
    call_prefix = "toolu_"
    tool_names = _TOOL_NAMES
    argument_names = _ARGUMENT_NAMES
    checks_inner_names = False
    package = "anthropic"
    method = "messages.create"

    def is_message(self, data: Mapping[str, Any]) -> bool:
        """Tell whether *data* looks like a message of Anthropic, judging by its types of blocks."""
        kinds = {string(first_of(block, "type")) for block in items_of(data.get("content"))}
        # OpenAI's models write text as a string, though others of its dialect may send blocks
        is_text = kinds == {"text"} and data.get("role") == "assistant"
        # As in `server_tool_use`, `web_search_tool_result`, `redacted_thinking`.
        # The result of a tool of the user has no prefix.
        is_own = any(kind.endswith(("thinking", "tool_use", "_tool_result")) for kind in kinds)
        return is_text or is_own or data.get("type") == "message"

    def is_whole(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is a whole message."""
        return chunk.get("type") == "message" and isinstance(chunk.get("content"), list)

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is an event, even one of an unknown type."""
        return isinstance(chunk.get("type"), str)

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*, a message of a conversation."""
        role = role_of(data)
        parts = parts_of(data.get("content"), partial(_parts, is_model=role == "assistant"))
        return Message(role, tuple(parts), "anthropic", dict(data))

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a message that was sent whole or joined from a stream."""
        blocks: list[Any] = []
        for block in items_of(data.get("content")):
            if isinstance(block, str):
                block = {"type": "text", "text": block}
            elif isinstance(first_of(block, "input"), str):
                block = {**block, "input": json_value(block["input"])}
            blocks.append(block)
        tokens = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        return Response(
            self.read_parts(blocks),
            string_or_none(data.get("stop_reason")),
            usage_of(data.get("usage"), tokens, ["output_tokens"]),
            string_or_none(data.get("id")),
            string_or_none(data.get("model")),
        )

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; all results of calls are in one message of the user."""
        message = message.sent_to("anthropic")
        role = message.role
        if role == "tool":
            role = "user"
        head = head_of(message, role)
        if isinstance(head.get("content"), str) or (message.raw is None and _is_words(message)):
            return [{**head, "content": message.text}]
        blocks = [block for part in message.parts if (block := self._block(part))]
        return [{**head, "content": blocks}]

    def _block(self, part: Part) -> Json | None:
        """Return *part* as a block; None for thinking that another provider sent."""
        match part:
            case TextPart(text, raw):
                return {**(raw or {"type": "text"}), "text": text}
            case ThinkingPart(text, raw) if raw is not None:
                return {**raw, "thinking": text}
            case ToolCallPart():
                return self.write_call(part)
            case ToolResultPart(raw=None):
                return _result(part)
            case ImagePart(url, None):
                return _image(url)
        return part.raw

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as a `tool_use` block."""
        made = {"id": call.id, "name": call.name, "input": as_object(call.arguments)}
        return {**(call.raw or {"type": "tool_use"}), **made}

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the body of a request for the next message."""
        conversation = self.accepted(messages)
        turns: list[Json] = []
        for message in conversation:
            if message.role != "system":
                turns += self.write(message)
        body: Json = {
            "max_tokens": MOST_TOKENS,
            **options,
            "model": model,
            "messages": joined_turns(turns, "content", _accepted_blocks),
            "stream": True,
        }
        if system := instructions(conversation):
            body["system"] = system
        if tools:
            body["tools"] = list(tools)
        return body

    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool*, with its schema in JSON Schema draft 2020-12."""
        parameters = tool.parameters(security_risk=security_risk, summary=summary)
        schema = rewritten(plain_root(parameters, changes), _modern(changes))
        return {
            "name": changes.fitting_name("name", tool.name, _TOOL_NAMES),
            "description": tool.description,
            "input_schema": _with_fitting_names(schema, changes),
        }


def _modern(changes: Changes) -> Callable[[Json, str], Json]:
    """Return a function that converts schemas of older drafts to 2020-12, as Anthropic requires."""

    def change(node: Json, where: str) -> Json:
        modern = dict(with_limits_as_numbers(node))
        if isinstance(modern.get("items"), list):
            modern["prefixItems"] = modern.pop("items")
            if "additionalItems" in modern:
                modern["items"] = modern.pop("additionalItems")
        if modern != node:
            message = "it was written as in draft 2020-12"
            changes.note(where, "rewritten", message, refused=True)
        if not where and changes.entries:
            modern.pop("$schema", None)
        return modern

    return change


def _with_fitting_names(schema: Json, changes: Changes) -> Json:
    """Return *schema* with the names of its arguments changed where Anthropic refuses them."""
    new: Json = {}
    for own in schema["properties"]:
        new[own] = changes.fitting_name(own, own, _ARGUMENT_NAMES)
    renamed = {**schema, "properties": {new[own]: sub for own, sub in schema["properties"].items()}}
    if schema.get("required"):
        renamed["required"] = [new.get(name, name) for name in schema["required"]]
    return renamed


def _is_words(message: Message) -> bool:
    """Tell whether *message*, which has no `raw`, is written as a string rather than as blocks."""
    if message.role == "assistant" or len(message.parts) != 1:
        return False
    return isinstance(message.parts[0], TextPart)


def _parts(block: Json, *, is_model: bool) -> Iterator[Part]:
    """Yield *block* as a part; skip blocks of the model that a request must not contain."""
    kind = block.get("type")
    match kind:
        case "text" | "thinking" if not isinstance(block.get(kind), str):
            return
        case "text":
            yield TextPart(block["text"], block)
        case "thinking":
            yield ThinkingPart(block["thinking"], block)
        case "tool_use":
            name, arguments = string(block.get("name")), as_sent_first(block.get("input"))
            yield ToolCallPart(name, arguments, call_id(block.get("id")), raw=block)
        case "tool_result":
            content = tuple(_result_content(block.get("content")))
            is_error = bool(block.get("is_error"))
            yield ToolResultPart(block.get("tool_use_id"), "", content, is_error, block)
        case "image" if url := _url_of(block):
            yield ImagePart(url, block)
        case _:
            if isinstance(kind, str) or not is_model:
                yield OtherPart(block)


def _result_content(content: Any) -> Iterator[TextPart | ImagePart]:
    for part in parts_of(content, partial(_parts, is_model=False)):
        if isinstance(part, TextPart | ImagePart):
            yield part


def _url_of(block: Mapping[str, Any]) -> str | None:
    source = as_mapping(block.get("source"))
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return string_or_none(source.get("url"))


def _result(result: ToolResultPart) -> Json:
    written: Json = {"type": "tool_result", "tool_use_id": result.id or ""}
    blocks: list[Json] = []
    for part in result.content:
        if isinstance(part, ImagePart):
            blocks.append(_image(part.url))
        elif part.text.strip():
            # An empty text block is refused
            blocks.append({"type": "text", "text": part.text})
    if blocks:
        written["content"] = blocks
    if result.is_error:
        written["is_error"] = True
    return written


def _image(url: str) -> Json:
    source: Json = {"type": "url", "url": url}
    if data := DATA_URL.match(url):
        source = {"type": "base64", "media_type": data[1], "data": data[2]}
    return {"type": "image", "source": source}


def _accepted_blocks(message: Mapping[str, Any]) -> list[Any]:
    """Return the blocks of *message* that a request may contain."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [without_none(block) for block in content or ()]
    return [block for block in blocks if block.get("type") != "text" or block["text"].strip()]
