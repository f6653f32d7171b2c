"""Turn an observation into the provider's tool result, the answer to a model's call."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.jsonschema.types import Json
from toolbench.llm.prompt_messages import user_message
from toolbench.llm.providers import Provider

if TYPE_CHECKING:
    from toolbench.llm.calls.tool_call import ToolCall

LONGEST_TEXT = 100_000
"""The most characters of text in an answer (about 25,000 tokens); the middle is cut out."""
LARGEST_IMAGE = 5_000_000
"""The most characters of an image's `data:` URL; a note is sent in place of a larger image."""

_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
# What it is, "text" or "image", and the text or the URL
_Block = tuple[str, str]


@dataclass(frozen=True)
class _Payload:
    blocks: Sequence[_Block]
    failed: bool


def respond(
    call: "ToolCall",
    observation: Observation | None = None,
    *,
    limit: int = LONGEST_TEXT,
) -> Json:
    """Return the message that answers *call*, in its provider's format.

    Args:
        call: The call; the answer has its id and the name that the model used.
        observation: The result of the call. A call with an `error` needs no observation: the
            error is the answer.
        limit: The most characters of text; the middle of a longer text is replaced by a note.

    Raises:
        ValueError: If the call has neither an error nor an observation.
    """
    result = call.observation if observation is None else observation
    if result is None:
        msg = f"The call of {call.name!r} has no error: run it and give its observation."
        raise ValueError(msg)
    payload = _Payload(_blocks(result.to_llm_content, limit), result.is_error)
    return _ANSWERS[call.metadata.provider](call, payload)


def respond_all(
    answers: "Sequence[tuple[ToolCall, Observation | None]]",
    *,
    limit: int = LONGEST_TEXT,
) -> list[Json]:
    """Return the messages that answer the calls of one message, in the order of *answers*.

    Anthropic and Gemini require all results in one turn, so there is one message. In OpenAI's
    chat completions an answer cannot hold an image: the images follow in a user message.

    Args:
        answers: Each call with its observation, as for `respond`.
        limit: The most characters of text in each answer.

    Raises:
        ValueError: If a call has neither an error nor an observation.
    """
    messages = [respond(call, result, limit=limit) for call, result in answers]
    if not messages:
        return []
    match answers[0][0].metadata.provider:
        case "anthropic":
            return [_joined(messages, "content")]
        case "gemini":
            return [_joined(messages, "parts")]
        case "openai":
            return [*messages, *_images_of(answers)]
    return messages


def _joined(messages: Sequence[Json], key: str) -> Json:
    return {**messages[0], key: [part for m in messages for part in m[key]]}


def _images_of(
    answers: "Sequence[tuple[ToolCall, Observation | None]]",
) -> list[Json]:
    content: list[Content] = []
    for call, result in answers:
        images = [
            ImageContent(image_urls=[url])
            for block in (result.to_llm_content if result else ())
            if isinstance(block, ImageContent)
            for url in block.image_urls
            if len(url) <= LARGEST_IMAGE
        ]
        if images:
            title = f"What the call {call.id or call.name} of {call.name} returned:"
            content += [TextContent(text=title), *images]
    return [user_message(content)] if content else []


def _blocks(content: Sequence[Content], limit: int) -> list[_Block]:
    blocks: list[_Block] = []
    left = limit
    for part in content:
        if isinstance(part, TextContent):
            text = _cut(part.text, left)
            left = max(0, left - len(text))
            blocks.append(("text", text))
        if isinstance(part, ImageContent):
            blocks += map(_image, part.image_urls)
    return blocks


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = len(text) - (limit - head)
    note = f"\n[… {tail - head:,} of {len(text):,} characters left out …]\n"
    return text[:head] + note + text[tail:]


def _image(url: str) -> _Block:
    if len(url) <= LARGEST_IMAGE:
        return "image", url
    return "text", f"[an image of {len(url):,} characters was left out: too large]"


def _text(blocks: Sequence[_Block]) -> str:
    """Return all blocks as text; an image becomes its media type or URL."""
    return "\n".join(text if kind == "text" else _image_text(text) for kind, text in blocks)


def _image_text(url: str) -> str:
    match = _DATA.match(url)
    return f"[image: {match[1]}]" if match else f"[image: {url}]"


# --- the providers' formats -----------------------------------------------------------


def _openai(call: "ToolCall", payload: _Payload) -> Json:
    return {
        "role": "tool",
        "tool_call_id": call.id or "",
        "content": _text(payload.blocks),
    }


def _responses(call: "ToolCall", payload: _Payload) -> Json:
    output: str | list[Json] = _text(payload.blocks)
    if any(kind == "image" for kind, _ in payload.blocks):
        output = [
            {"type": "input_text", "text": value}
            if kind == "text"
            else {"type": "input_image", "image_url": value, "detail": "auto"}
            for kind, value in payload.blocks
        ]
    return {"type": "function_call_output", "call_id": call.id or "", "output": output}


def _anthropic(call: "ToolCall", payload: _Payload) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": call.id or ""}
    parts = [_claude_block(kind, value) for kind, value in payload.blocks if value.strip()]
    # An empty text block is refused
    if parts:
        result["content"] = parts
    if payload.failed:
        result["is_error"] = True
    return {"role": "user", "content": [result]}


def _claude_block(kind: str, text: str) -> Json:
    if kind == "text":
        return {"type": "text", "text": text}
    match = _DATA.match(text)
    source = (
        {"type": "base64", "media_type": match[1], "data": match[2]}
        if match
        else {"type": "url", "url": text}
    )
    return {"type": "image", "source": source}


def _gemini(call: "ToolCall", payload: _Payload) -> Json:
    response: Json = {"name": call.metadata.sent_name}
    if call.id:
        response["id"] = call.id
    images = [_DATA.match(url) for kind, url in payload.blocks if kind == "image"]
    embedded = [match for match in images if match]
    texts = [(k, s) for k, s in payload.blocks if k == "text" or not _DATA.match(s)]
    response["response"] = {"error" if payload.failed else "output": _text(texts)}
    if embedded:
        response["parts"] = [
            {"inlineData": {"mimeType": match[1], "data": match[2]}} for match in embedded
        ]
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _mcp(call: "ToolCall", payload: _Payload) -> Json:
    content: list[Json] = []
    for kind, value in payload.blocks:
        match = _DATA.match(value) if kind == "image" else None
        if match:
            content.append({"type": "image", "data": match[2], "mimeType": match[1]})
        else:
            text = value if kind == "text" else _image_text(value)
            content.append({"type": "text", "text": text})
    return {"content": content, "isError": payload.failed}


_ANSWERS: Mapping[Provider, Callable[["ToolCall", _Payload], Json]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
