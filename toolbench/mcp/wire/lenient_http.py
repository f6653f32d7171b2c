"""Repair answers of an HTTP server that the SDK would refuse."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import mcp_types

from toolbench.mcp.wire.framing import NoiseError, mend

LONGEST_EVENT = 256 * 1024 * 1024  # bytes of one result in an event stream

_DEEPEST = 150  # levels of objects and lists; the SDK's reader stops at 200
_SUSPECT = re.compile(rb'"result"\s*:\s*[^{\s]|\\u[dD][89a-fA-F]')


async def mend_response(response: httpx2.Response, kind: str) -> None:
    """Repair the body of *response*, which has media type *kind*, before the SDK reads it."""
    received: Any = response.stream
    if "content-encoding" in response.headers:  # compressed: leave it to the SDK
        return
    if kind == "text/event-stream":
        response.stream = MendedEvents(received)
    elif kind == "application/json":
        body = b"".join([chunk async for chunk in received])
        await received.aclose()
        answers = [each for each in _meant(body) if "method" not in each]
        response.stream = httpx2.ByteStream(_bytes(answers[0]) if answers else body)


class MendedEvents(httpx2.AsyncByteStream):
    """An event stream with repaired messages.

    Bytes are passed on at the end of their line, or of their chunk if lines end in CR.
    """

    def __init__(self, received: httpx2.AsyncByteStream) -> None:
        """Repair the stream *received*."""
        self._received = received

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the repaired bytes of the stream."""
        chunks: list[bytes] = []
        size = 0
        async for chunk in self._received:
            *ended, rest = chunk.split(b"\n")
            if ended:
                ended[0] = b"".join((*chunks, ended[0]))
                chunks, size = [], 0
                yield b"".join(_mended_line(line) + b"\n" for line in ended)
            chunks.append(rest)
            size += len(rest)
            if b"\r" in rest or size > LONGEST_EVENT:
                yield b"".join(chunks)
                chunks, size = [], 0
        yield b"".join(chunks)

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._received.aclose()


def _mended_line(line: bytes) -> bytes:
    """Return *line* with its message repaired, if it seems to be broken."""
    if not line.startswith(b"data:"):
        return line
    deep = line.count(b"{") + line.count(b"[") > _DEEPEST
    if not deep and _SUSPECT.search(line) is None:
        return line
    data = [_bytes(each) for each in _meant(line[5:])]
    return b"data: " + b"\n\ndata: ".join(data) if data else line


def _meant(body: bytes) -> list[dict[str, Any]]:
    """Return the repaired messages in *body*; empty if no repair is needed or possible."""
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        try:
            return list(mend(body))
        except NoiseError:  # the SDK raises its own error
            return []
    return []


def _bytes(message: dict[str, Any]) -> bytes:
    return json.dumps(_pruned(message, _DEEPEST)).encode()


def _pruned(value: Any, levels: int) -> Any:
    """Cut *value* below *levels*, so that one deep tool does not hide the others."""
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return "nested too deeply to be read"
    if isinstance(value, list):
        return [_pruned(item, levels - 1) for item in value]
    return {key: _pruned(item, levels - 1) for key, item in value.items()}
