"""Read what a provider streams, and make pieces of an answer (`Chunk`) of it, for listeners."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolbench.llm.models.protocol import Chunk
from toolbench.values import clip

_LONGEST = 1_000_000


def pieces(chunk: Mapping[str, Any]) -> Iterator[Chunk]:
    """Yield a `Chunk` for each piece of an answer in *chunk*, a dict that a provider has streamed."""
    kind = chunk.get("type")
    if isinstance(kind, str):
        responses = kind.startswith("response.")
        return _response(kind, chunk) if responses else _claude(kind, chunk)
    return _chat(chunk) if "choices" in chunk else _gemini(chunk)


def _chat(chunk: Mapping[str, Any]) -> Iterator[Chunk]:
    for choice in (chunk.get("choices") or ())[:1]:
        delta = choice.get("delta") or {}
        if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
            yield Chunk("thinking", str(thinking))
        if text := delta.get("content") or delta.get("refusal"):
            yield Chunk("text", str(text))
        for place, part in enumerate(delta.get("tool_calls") or ()):
            function, index = part.get("function") or {}, part.get("index")
            yield Chunk(
                "call",
                function.get("arguments") or "",
                function.get("name") or None,
                index if isinstance(index, int) else place,
            )


def _response(kind: str, event: Mapping[str, Any]) -> Iterator[Chunk]:
    index, delta = event.get("output_index") or 0, event.get("delta") or ""
    match kind.removeprefix("response."):
        case "output_text.delta" | "refusal.delta":
            yield Chunk("text", delta)
        case "reasoning_summary_text.delta" | "reasoning_text.delta":
            yield Chunk("thinking", delta)
        case "function_call_arguments.delta":
            yield Chunk("call", delta, None, index)
        case "output_item.added":
            item = event.get("item") or {}
            if item.get("type") == "function_call":
                yield Chunk("call", "", item.get("name"), index)


def _claude(kind: str, event: Mapping[str, Any]) -> Iterator[Chunk]:
    index = event.get("index") or 0
    block = event.get("content_block") or {}
    if kind == "content_block_start" and block.get("type") == "tool_use":
        yield Chunk("call", "", block.get("name"), index)
    delta = event.get("delta") or {}
    if kind != "content_block_delta":
        return
    if delta.get("text"):
        yield Chunk("text", delta["text"])
    if delta.get("thinking"):
        yield Chunk("thinking", delta["thinking"])
    if delta.get("partial_json"):
        yield Chunk("call", delta["partial_json"], None, index)


def _gemini(chunk: Mapping[str, Any]) -> Iterator[Chunk]:
    for candidate in (chunk.get("candidates") or ())[:1]:
        for part in (candidate.get("content") or {}).get("parts") or ():
            call = part.get("functionCall") or part.get("function_call")
            if call is not None:
                arguments = call.get("args") or {}
                yield Chunk("call", clip(arguments, _LONGEST), call.get("name"))
            elif part.get("text"):
                yield Chunk("thinking" if part.get("thought") else "text", part["text"])
