"""Gemini's `generateContent`.

Each part of Gemini's messages becomes one part here; the model's role is "model". A call has a
name, and often no id. Results are in a message of the user, and refer to a call by its name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes, plain_root
from toolbench.llm.formats.gemini import ARGUMENT_NAMES, gemini_schema
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
    head_of,
    items_of,
    joined_turns,
    role_of,
    shown_arguments,
    string,
    string_or_none,
    usage_of,
    without_none,
)
from toolbench.values import bytes_in

_TOKENS_IN = ("promptTokenCount", "prompt_token_count")
_TOKENS_OUT = (
    "candidatesTokenCount",
    "candidates_token_count",
    "thoughtsTokenCount",
    "thoughts_token_count",
)
_TOOL_NAMES = NameRule(
    "a-zA-Z_", "a-zA-Z0-9_.:-", 128, "128 letters, digits and '_.:-', a letter or '_' first"
)
_ROLES = {"assistant": "model", "tool": "user"}
_TYPES: Mapping[str, type] = {
    "text": str,
    "thoughtSignature": str,
    "thought_signature": str,
    "functionCall": Mapping,
    "function_call": Mapping,
    "inlineData": Mapping,
    "inline_data": Mapping,
}
"""The types that fields of a part must have; Gemini's packages write some names in two ways."""


class _GeminiStream(Stream):
    """Joins chunks of `generateContent`: whole parts, or calls whose values arrive one by one."""

    def __init__(self) -> None:
        self._head: Json = {}
        self._parts: list[Json] = []
        self._finish: Any = None
        # A call that is not complete, and its part
        self._open: Json | None = None
        self._open_part: Json = {}

    def add(self, chunk: Mapping[str, Any]) -> list[Chunk]:
        """Add the next chunk."""
        self._head |= {k: v for k, v in chunk.items() if k != "candidates" and v}
        pieces: list[Chunk] = []
        for candidate in (chunk.get("candidates") or ())[:1]:
            self._finish = first_of(candidate, "finishReason", "finish_reason") or self._finish
            for part in (candidate.get("content") or {}).get("parts") or ():
                call = first_of(part, "functionCall", "function_call")
                if call is not None:
                    self._join(part, call)
                    if call:
                        arguments = shown_arguments(call.get("args") or {})
                        pieces.append(Chunk("call", arguments, call.get("name")))
                    continue
                self._add_part(without_none(part))
                if part.get("text") and part.get("thought"):
                    pieces.append(Chunk("thinking", part["text"]))
                elif part.get("text"):
                    pieces.append(Chunk("text", part["text"]))
        return pieces

    def _add_part(self, part: Json) -> None:
        """Add a part that is not a call; pieces of the same text become one part."""
        last: Json = {}
        if self._parts:
            last = self._parts[-1]
        text = part.get("text")
        if not isinstance(text, str):
            self._parts.append(part)
            return
        is_same = bool(part.get("thought")) == bool(last.get("thought"))
        if is_same and isinstance(last.get("text"), GrowingText):
            last["text"].add(text)
            last |= {**part, "text": last["text"]}
        else:
            self._parts.append({**part, "text": GrowingText(text)})

    def _join(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        if self._open is None or call.get("name"):
            self._open = {k: call.get(k) for k in ("id", "name")}
            self._open["args"] = dict(call.get("args") or {})
            self._open_part = {"functionCall": self._open}
            self._parts.append(self._open_part)
        # Gemini refuses a call that is sent back without the signature of its thought
        if signature := first_of(part, "thoughtSignature", "thought_signature"):
            self._open_part["thoughtSignature"] = signature
        for piece in first_of(call, "partialArgs", "partial_args") or ():
            _put(self._open["args"], piece)
        if not first_of(call, "willContinue", "will_continue"):
            self._open = None

    @property
    def response(self) -> Json:
        """The response so far, in the format of a response that is not streamed."""
        content = {"role": "model", "parts": as_strings(self._parts)}
        candidate = {"content": content, "finishReason": self._finish}
        return {**self._head, "candidates": [candidate]}

    @property
    def has_end(self) -> bool:
        """Whether the provider has given a reason for the end, or refused the prompt."""
        return bool(self._finish or first_of(self._head, "promptFeedback", "prompt_feedback"))


_STEP = re.compile(r"""\.([^.\[\]]+) | \['((?:[^'\\]|\\.)*)'\] | \[(\d+)\]""", re.VERBOSE)
_VALUES = ("stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value")
# Items in a list that a path may create
_LONGEST = 10_000


def _put(arguments: Json, piece: Mapping[str, Any]) -> None:
    """Put the value of *piece* into *arguments* at the path that *piece* names.

    A string is appended to a string that is already there.
    Source: google-genai, `types.PartialArg`.
    """
    root = {"$": arguments}
    holder: Any = root
    step: str | int = "$"
    for match in _STEP.finditer(str(first_of(piece, "jsonPath", "json_path") or "")):
        if match[3]:
            holder, step = _inside(holder, step, []), int(match[3])
        else:
            holder, step = _inside(holder, step, {}), match[1] or _unescaped(match[2])
    value = first_of(piece, *_VALUES)
    before = _inside(holder, step, None)
    if isinstance(before, str) and isinstance(value, str):
        value = before + value
    if holder is not root and _has_room(holder, step):
        holder[step] = value


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _inside(holder: Any, step: str | int, new: Any) -> Any:
    """Return the value at *step* of *holder*; if there is none, put *new* there and return it.

    Return None if *holder* cannot hold a value at *step*.
    """
    if not _has_room(holder, step):
        return None
    if isinstance(step, str):
        return holder.setdefault(step, new)
    if holder[step] is None:
        holder[step] = new
    return holder[step]


def _has_room(holder: Any, step: str | int) -> bool:
    """Return whether *holder* can hold a value at *step*; if *holder* is a list, extend it."""
    if isinstance(step, str):
        return isinstance(holder, dict)
    if not isinstance(holder, list) or step >= _LONGEST:
        return False
    holder += [None] * (step + 1 - len(holder))
    return True


class GeminiWire(Wire):
    """The format of Gemini."""

    provider = "gemini"
    title = "Gemini"
    maker = "Gemini"
    stream = _GeminiStream
    parts_key = "parts"
    response_keys = frozenset({"candidates", "parts", "promptFeedback", "prompt_feedback"})
    part_keys = frozenset({"functionCall", "function_call", "text"})
    reasons = {  # noqa: RUF012 - a constant of the class
        "max_tokens": "length",
        "blocklist": "refusal",
        "image_safety": "refusal",
        "prohibited_content": "refusal",
        "recitation": "refusal",
        "safety": "refusal",
        "spii": "refusal",
    }
    tool_names = _TOOL_NAMES
    argument_names = ARGUMENT_NAMES
    package = "google.genai"
    method = "models.generate_content_stream"

    def is_message(self, data: Mapping[str, Any]) -> bool:
        """Tell whether *data* looks like a response, a candidate or a message of Gemini."""
        return self.is_response(data) or first_of(data.get("content"), "parts") is not None

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* begins a stream; the first chunk may contain only the usage."""
        return super().is_chunk(chunk) or "usageMetadata" in chunk

    # --- reading ------------------------------------------------------------------------

    def read(self, data: Mapping[str, Any]) -> Message:
        """Read *data*, a message of a conversation."""
        head = dict(data)
        role = role_of(head)
        if role in ("assistant", "model"):
            role = "assistant"
            head["role"] = "model"
        content = head.get("parts", head.get("content"))
        if isinstance(content, str):
            return Message(role, (TextPart(content),), "gemini")
        parts: list[Part] = []
        for part in items_of(content):
            if isinstance(part, Mapping):
                parts += _parts(dict(part), is_model=role == "assistant")
        return Message(role, tuple(parts), "gemini", head)

    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a response, or a candidate or its content without the response around it."""
        candidate = as_mapping(next(iter(items_of(data.get("candidates"))), data))
        content = as_mapping(candidate.get("content", candidate))
        feedback = as_mapping(first_of(data, "promptFeedback", "prompt_feedback"))
        finish = first_of(candidate, "finishReason", "finish_reason")
        if first_of(feedback, "blockReason", "block_reason"):
            finish = "SAFETY"
        return Response(
            self.read_parts(items_of(content.get("parts"))),
            string_or_none(getattr(finish, "value", finish)),
            usage_of(first_of(data, "usageMetadata", "usage_metadata"), _TOKENS_IN, _TOKENS_OUT),
            string_or_none(first_of(data, "responseId", "response_id")),
            string_or_none(first_of(data, "modelVersion", "model_version")),
        )

    # --- writing ------------------------------------------------------------------------

    def write(self, message: Message) -> list[Json]:
        """Write *message*; all results of calls are in one message of the user."""
        message = message.sent_to("gemini")
        role = _ROLES.get(message.role, message.role)
        parts = [part for one in message.parts if (part := self._part(one))]
        return [{**head_of(message, role), "parts": parts}]

    def _part(self, part: Part) -> Json | None:
        """Return *part* in Gemini's format; None for thinking that another provider sent."""
        match part:
            case TextPart(text, raw):
                return {**(raw or {}), "text": text}
            case ThinkingPart(text, raw) if raw is not None:
                return {**raw, "text": text}
            case ToolCallPart():
                return self.write_call(part)
            case ToolResultPart(raw=None):
                return _result(part)
            case ImagePart(url, None):
                return _image(url)
        return part.raw

    def takes(self, image: ImagePart) -> bool:
        """Return True, because Gemini accepts any image in a message of the model."""
        return True

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as a `functionCall` part."""
        raw = call.raw or {"functionCall": {}}
        key = "functionCall"
        if not isinstance(raw.get(key), Mapping):
            key = "function_call"
        made: Json = {}
        if call.id:
            made["id"] = call.id
        made["name"] = call.name
        written = {**raw[key], **made}
        if not call.id:
            written.pop("id", None)
        if call.raw is None or call.arguments or "args" in written:
            written["args"] = as_object(call.arguments)
        return {**raw, key: written}

    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the arguments of the client method that requests the next message."""
        conversation = self.accepted(messages)
        turns: list[Json] = []
        for message in conversation:
            if message.role != "system":
                turns += self.write(message)
        config: Json = dict(options)
        if system := instructions(conversation):
            config["system_instruction"] = system
        if tools:
            config["tools"] = [{"function_declarations": list(tools)}]
            config["automatic_function_calling"] = {"disable": True}
        contents = joined_turns(turns, "parts", _accepted_parts)
        return {"model": model, "contents": contents, "config": config}

    def holder_of_secrets(self, client: Any) -> Any:
        """Return the object inside *client* that has the API key, as no public attribute has it."""
        return getattr(client, "_api_client", None)

    def for_client(self, body: Json) -> Json:
        """Return *body* with its base64 strings decoded to bytes."""
        contents: list[Json] = []
        for turn in body["contents"]:
            contents.append({**turn, "parts": [*map(_with_bytes, turn["parts"])]})
        return {**body, "contents": contents}

    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool* as a function declaration."""
        parameters = tool.parameters(security_risk=security_risk, summary=summary)
        schema = gemini_schema(plain_root(parameters, changes), changes)
        declaration: Json = {
            "name": changes.fitting_name("name", tool.name, _TOOL_NAMES),
            "description": tool.description,
        }
        if schema:
            declaration["parameters"] = schema
        return declaration


def _parts(raw: Json, *, is_model: bool) -> Iterator[Part]:
    """Yield *raw* as a part; skip parts of the model that a request must not contain."""
    if is_model and not (_is_sound(raw) and raw.keys() - {"thought"}):
        return
    text, url = raw.get("text"), _url_of(raw)
    call = first_of(raw, "functionCall", "function_call")
    response = first_of(raw, "functionResponse", "function_response")
    if isinstance(call, Mapping):
        name, arguments = string(call.get("name")), as_sent_first(call.get("args") or {})
        yield ToolCallPart(name, arguments, call_id(call.get("id")), raw=raw)
    elif isinstance(response, Mapping):
        yield _read_result(response, raw)
    elif url:
        yield ImagePart(url, raw)
    elif not isinstance(text, str):
        yield OtherPart(raw)
    elif raw.get("thought"):
        yield ThinkingPart(text, raw)
    else:
        yield TextPart(text, raw)


def _is_sound(raw: Json) -> bool:
    """Tell whether a request may contain *raw*, a part of the model."""
    for key, kind in _TYPES.items():
        value = raw.get(key)
        if value is not None and not isinstance(value, kind):
            return False
    return True


def _read_result(response: Mapping[str, Any], raw: Json) -> ToolResultPart:
    values = as_mapping(response.get("response"))
    value = next(iter(values.values()), "")
    content: list[TextPart | ImagePart] = [TextPart(str(value))]
    for part in items_of(response.get("parts")):
        if url := _url_of(as_mapping(part)):
            content.append(ImagePart(url))
    id_, name = string_or_none(response.get("id")), string(response.get("name"))
    return ToolResultPart(id_, name, tuple(content), "error" in values, raw)


def _url_of(raw: Mapping[str, Any]) -> str | None:
    blob = as_mapping(first_of(raw, "inlineData", "inline_data"))
    if blob.get("data"):
        kind = str(first_of(blob, "mimeType", "mime_type") or "image/png")
        data = str(blob["data"]).translate(str.maketrans("-_", "+/"))
        if kind.startswith("image/"):
            return f"data:{kind};base64,{data}"
        return None
    file = as_mapping(first_of(raw, "fileData", "file_data"))
    return string_or_none(first_of(file, "fileUri", "file_uri"))


def _result(result: ToolResultPart) -> Json:
    response: Json = {"name": result.name}
    if result.id:
        response["id"] = result.id
    lines: list[str] = []
    embedded: list[Json] = []
    for part in result.content:
        if isinstance(part, TextPart):
            lines.append(part.text)
        elif DATA_URL.match(part.url):
            embedded.append(_image(part.url))
        else:
            lines.append(part.words)
    key = "output"
    if result.is_error:
        key = "error"
    response["response"] = {key: "\n".join(lines)}
    if embedded:
        response["parts"] = embedded
    return {"functionResponse": response}


def _image(url: str) -> Json:
    if data := DATA_URL.match(url):
        return {"inlineData": {"mimeType": data[1], "data": data[2]}}
    return {"fileData": {"fileUri": url}}


def _accepted_parts(message: Mapping[str, Any]) -> list[Any]:
    """Return the parts of *message* that a request may contain."""
    parts = [without_none(part) for part in message.get("parts") or ()]
    return [part for part in parts if part and part.get("text") != ""]


def _with_bytes(part: Json) -> Json:
    """Return *part* as Google's package expects it, with its base64 strings decoded to bytes."""
    part = dict(part)
    for name in ("inlineData", "inline_data"):
        blob = part.get(name)
        if isinstance(blob, Mapping) and isinstance(blob.get("data"), str):
            part[name] = {**blob, "data": _decoded(blob["data"])}
    for name in ("thoughtSignature", "thought_signature"):
        if isinstance(part.get(name), str):
            part[name] = _decoded(part[name])
    response = part.get("functionResponse")
    if isinstance(response, Mapping) and response.get("parts"):
        inner = [*map(_with_bytes, response["parts"])]
        part["functionResponse"] = {**response, "parts": inner}
    return part


def _decoded(text: str) -> bytes:
    return bytes_in(text + "=" * (-len(text) % 4)) or b""
