"""Repair answers of an HTTP server that the SDK would refuse, or would wait for without an end."""

import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pydantic import ValidationError

from toolbench.errors import BodyError
from toolbench.mcp.wire.framing import NoiseError, mend, message_in
from toolbench.network import MOST_BYTES, too_long

# Levels of objects and lists; the SDK's reader stops at 200
_DEEPEST = 150
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OUTCOME = re.compile(rb'"(result|error)"\s*:')
_NOTHING = "it has neither a result nor an error"
# JSON-RPC: parse error
_UNREADABLE = -32700

Noise = Callable[[str], object]
"""A function that takes a text that is not a message."""


@dataclass
class Reading:
    """The result of reading a body or an event: the messages to pass on, or the problem."""

    messages: list[dict[str, Any]] | None = None
    """The repaired messages to pass on; None to pass on the bytes unchanged."""
    has_answer: bool = False
    answered: int | str | None = None
    """The id in the answer, if the bytes are passed on unchanged."""
    problem: str = ""
    """The reason why no message could be read; empty if a message was read."""


async def mend_response(
    response: httpx2.Response, kind: str, on_noise: Noise = lambda text: None
) -> None:
    """Repair the body of *response*, which has media type *kind*, before the SDK reads it."""
    received: Any = response.stream
    request_id = _request_id(response.request)
    if kind == "text/event-stream":
        response.stream = MendedEvents(received, request_id, on_noise)
    elif kind == "application/json" and request_id is not None:
        try:
            body = b"".join([chunk async for chunk in received])
        except BodyError:
            body = b""
            answer: dict[str, Any] | None = unreadable(request_id, too_long())
        else:
            answer = _answer_in(body, request_id)
        finally:
            await received.aclose()
        response.stream = httpx2.ByteStream(body if answer is None else _bytes(answer))


def read(body: bytes) -> Reading:
    """Read *body* as a message. If the body is not a valid message, repair it."""
    try:
        message = message_in(body)
    except ValidationError as error:
        try:
            messages = list(mend(body))
        except NoiseError:
            return Reading(problem=_reason(error))
        return Reading(messages, any("method" not in each for each in messages))
    if hasattr(message, "method"):
        return Reading()
    return Reading(has_answer=True, answered=message.id)


class MendedEvents(httpx2.AsyncByteStream):
    """An event stream with repaired messages. Events without a message are passed on unchanged.

    An unreadable event is left out. If this event was meant as the answer, an error takes its
    place. If the stream ends without an answer after an unreadable event, an error is added at the
    end. It ends, too, in an event that is too long.
    """

    def __init__(
        self,
        received: httpx2.AsyncByteStream,
        request_id: int | str | None = None,
        on_noise: Noise = lambda text: None,
    ) -> None:
        """Repair the stream *received*, the answer to *request_id* (None: it answers no request)."""
        self._received = received
        self._request_id = request_id
        self._on_noise = on_noise
        self._problem = ""
        self._is_answered = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the repaired bytes of the stream."""
        splitter = EventSplitter()
        async for chunk in self._chunks():
            if passed := b"".join(self._mended(e) for e in splitter.feed(chunk)):
                yield passed
            if splitter.size > MOST_BYTES:
                self._problem = too_long()
                if self._request_id is None:
                    msg = f"an event of the server is too long: {self._problem}"
                    raise httpx2.StreamError(msg)
                break
        else:
            yield splitter.rest()
        if self._problem and (refusal := self._refusal()):
            yield refusal

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._received:
                yield chunk
        except httpx2.HTTPError:
            # The SDK opens a stream of notifications again at its end, but not after two errors
            if self._request_id is not None:
                raise

    def _mended(self, lines: list[bytes]) -> bytes:
        event = Event.of(lines)
        if event.name == "message" and event.data:
            reading = read(event.data)
            self._is_answered |= reading.has_answer
            if reading.problem:
                self._problem = reading.problem
                self._on_noise(event.data.decode("utf-8", "replace"))
                # the stream may stay open after it, and no other answer will come
                is_answer = _OUTCOME.search(event.data) and b'"method"' not in event.data
                return self._refusal() if is_answer else b""
            if reading.messages is not None:
                others = [line for line in lines if not line.startswith(b"data")]
                data = [b"data: " + _bytes(m) + b"\n\n" for m in reading.messages]
                return b"".join([*(line + b"\n" for line in others), *data])
        return b"\n".join(lines) + b"\n\n"

    def _refusal(self) -> bytes:
        """Return an error event in place of a missing answer; empty if no answer is missing."""
        if self._is_answered or self._request_id is None:
            return b""
        self._is_answered = True
        answer = unreadable(self._request_id, self._problem)
        return b"\n\ndata: " + _bytes(answer) + b"\n\n"

    async def aclose(self) -> None:
        """Close the stream that is repaired."""
        await self._received.aclose()


@dataclass
class EventSplitter:
    """Takes chunks of an event stream and returns the lines of each complete event."""

    size: int = 0
    """Bytes of the event that is not complete yet."""
    _lines: list[bytes] = field(default_factory=list)
    _line: list[bytes] = field(default_factory=list)
    """The chunks of the line that is not complete yet."""
    _has_cr: bool = False
    """Whether the last chunk ended with a CR, whose LF may still come."""

    def feed(self, chunk: bytes) -> list[list[bytes]]:
        """Add *chunk*; return the events that are now complete, each as its lines."""
        if self._has_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._has_cr = False
        if not chunk:
            return []
        self._has_cr = chunk.endswith(b"\r")
        pieces = chunk.splitlines()
        rest = b"" if chunk.endswith((b"\n", b"\r")) else pieces.pop()
        events = []
        for piece in pieces:
            line = b"".join((*self._line, piece)).removeprefix(_BYTE_ORDER_MARK)
            self._line.clear()
            if line:
                self._lines.append(line)
                self.size += len(piece)
            elif self._lines:
                events.append(self._lines)
                self._lines, self.size = [], 0
        if rest:
            self._line.append(rest)
            self.size += len(rest)
        return events

    def rest(self) -> bytes:
        """Return the bytes of the event that is not complete, and remove them from the splitter."""
        last = b"".join(self._line)
        text = b"".join(line + b"\n" for line in self._lines) + last
        self._lines, self._line, self.size = [], [], 0
        return text


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    name: str
    data: bytes

    @classmethod
    def of(cls, lines: list[bytes]) -> "Event":
        """Return the event that *lines*, the lines of an event stream, describe."""
        name, data = "message", []
        for line in lines:
            key, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if key == b"data":
                data.append(value)
            elif key == b"event":
                name = value.decode("utf-8", "replace")
        return cls(name, b"\n".join(data))


def unreadable(request_id: int | str, problem: str) -> dict[str, Any]:
    """Return the error that replaces an unreadable answer to the request *request_id*."""
    text = f"The server's answer could not be read: {problem}."
    error = {"code": _UNREADABLE, "message": text}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _answer_in(body: bytes, request_id: int | str) -> dict[str, Any] | None:
    """Return the answer that replaces *body*; None if *body* can be passed on unchanged.

    The answer always gets the id *request_id*, because *body* can only answer this request.
    """
    reading = read(body)
    if reading.problem:
        return unreadable(request_id, reading.problem)
    if reading.messages is None:
        if reading.answered == request_id:
            return None
        if reading.has_answer:
            return {**json.loads(body), "id": request_id}
        return unreadable(request_id, _NOTHING)
    answers = [each for each in reading.messages if "method" not in each]
    if not answers:
        return unreadable(request_id, _NOTHING)
    return {**answers[0], "id": request_id}


def _request_id(request: httpx2.Request) -> int | str | None:
    """Return the id of the MCP request that *request* sends; None if there is no such id."""
    if request.method != "POST":
        return None
    try:
        sent = json.loads(request.content)
    except (ValueError, RecursionError, httpx2.StreamError):
        return None
    return sent.get("id") if isinstance(sent, dict) and "method" in sent else None


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return str(first["msg"])
    return "it is not a message of JSON-RPC"


def _bytes(message: dict[str, Any]) -> bytes:
    return json.dumps(_pruned(message, _DEEPEST)).encode()


def _pruned(value: Any, levels: int) -> Any:
    """Return *value*, but with a text in place of each part that is below *levels* levels.

    Without this, one tool that is nested too deeply would make all tools unreadable.
    """
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return "nested too deeply to be read"
    if isinstance(value, list):
        return [_pruned(item, levels - 1) for item in value]
    return {key: _pruned(item, levels - 1) for key, item in value.items()}
