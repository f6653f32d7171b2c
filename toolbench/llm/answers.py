"""What a model is told after its call: the observation as its provider's tool result."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.llm.providers import Provider
from toolbench.llm.schemas import Json
from toolbench.llm.toolcall import ToolCall

LONGEST_TEXT = 100_000
"""Characters of text in an answer, about 25,000 tokens; the rest is cut from the middle."""
LARGEST_IMAGE = 5_000_000
"""Characters of an image's `data:` URL; a larger one is named, not sent."""

_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_Block = tuple[str, str]  # ("text", text) or ("image", url)


@dataclass(frozen=True)
class _Told:
    blocks: Sequence[_Block]
    failed: bool


def respond(
    call: ToolCall, observation: Observation | None = None, *, limit: int = LONGEST_TEXT
) -> Json:
    """Return the message that answers *call*, in the shape its provider wants.

    Args:
        call: The call; its id and the name the model used go into the answer.
        observation: What came out of it. A call with an `error` needs none: the error is told.
        limit: Characters of text; what is longer loses its middle, and a note says so.

    Raises:
        ValueError: If the call could run and there is no observation.
    """
    seen = call.observation if observation is None else observation
    if seen is None:
        msg = f"The call of {call.name!r} can run: give the observation it came to."
        raise ValueError(msg)
    told = _Told(_blocks(seen.to_llm_content, limit), seen.is_error)
    return _ANSWERS[call.metadata.provider](call, told)


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
    """All blocks as text; an image is named where it cannot be sent."""
    return "\n".join(said if kind == "text" else _named(said) for kind, said in blocks)


def _named(url: str) -> str:
    found = _DATA.match(url)
    return f"[image: {found[1]}]" if found else f"[image: {url}]"


# --- each in its provider's words -----------------------------------------------------


def _openai(call: ToolCall, told: _Told) -> Json:
    return {
        "role": "tool",
        "tool_call_id": call.id or "",
        "content": _text(told.blocks),
    }


def _responses(call: ToolCall, told: _Told) -> Json:
    output: str | list[Json] = _text(told.blocks)
    if any(kind == "image" for kind, _ in told.blocks):
        output = [
            {"type": "input_text", "text": said}
            if kind == "text"
            else {"type": "input_image", "image_url": said, "detail": "auto"}
            for kind, said in told.blocks
        ]
    return {"type": "function_call_output", "call_id": call.id or "", "output": output}


def _anthropic(call: ToolCall, told: _Told) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": call.id or ""}
    parts = [_claude_block(kind, said) for kind, said in told.blocks if said.strip()]
    if parts:  # an empty text block is refused
        result["content"] = parts
    if told.failed:
        result["is_error"] = True
    return {"role": "user", "content": [result]}


def _claude_block(kind: str, said: str) -> Json:
    if kind == "text":
        return {"type": "text", "text": said}
    found = _DATA.match(said)
    source = (
        {"type": "base64", "media_type": found[1], "data": found[2]}
        if found
        else {"type": "url", "url": said}
    )
    return {"type": "image", "source": source}


def _gemini(call: ToolCall, told: _Told) -> Json:
    response: Json = {"name": call.metadata.sent_name}
    if call.id:
        response["id"] = call.id
    images = [_DATA.match(said) for kind, said in told.blocks if kind == "image"]
    embedded = [found for found in images if found]
    texts = [(k, s) for k, s in told.blocks if k == "text" or not _DATA.match(s)]
    response["response"] = {"error" if told.failed else "output": _text(texts)}
    if embedded:
        response["parts"] = [
            {"inlineData": {"mimeType": found[1], "data": found[2]}}
            for found in embedded
        ]
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _mcp(call: ToolCall, told: _Told) -> Json:
    content: list[Json] = []
    for kind, said in told.blocks:
        found = _DATA.match(said) if kind == "image" else None
        if found:
            content.append({"type": "image", "data": found[2], "mimeType": found[1]})
        else:
            text = said if kind == "text" else _named(said)
            content.append({"type": "text", "text": text})
    return {"content": content, "isError": told.failed}


_ANSWERS: Mapping[Provider, Callable[[ToolCall, _Told], Json]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}
