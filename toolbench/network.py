"""Classify the network errors of any package, and limit the bytes of one answer.

httpx, requests, urllib, aiohttp, anyio, websockets, MCP's SDK and the packages of providers each
have their own errors. So this module looks only at the class names of an error and at its HTTP
status: these are similar in all packages, and looking at them imports no package.

Bytes are counted after decompression, because 1 MB can become 1 GB. Without the limit, this process
would run out of memory, and no message would say which server sent the answer.
"""

import errno
import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any, Literal

from toolbench.errors import BodyError

# --- errors -------------------------------------------------------------------------------

ErrorKind = Literal["timeout", "network", "permission"]
"""The kinds of errors: a timeout; a failed connection or a busy host; a missing permission."""

PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
"""The HTTP statuses of temporary refusals: a later request may succeed."""
UNREACHED = frozenset(
    {
        *("ConnectError", "ConnectTimeout", "ClientConnectorError"),
        *("gaierror", "ConnectionRefusedError"),
    }
)
"""The names of error classes which mean that the host could not be reached at all."""
CONNECTION = frozenset(
    {
        *("TransportError", "NetworkError", "ConnectError", "ConnectionError"),
        *("APIConnectionError", "ClientConnectionError", "ClientPayloadError"),
        *("NewConnectionError", "MaxRetryError", "ProtocolError", "IncompleteRead"),
        *("BrokenResourceError", "ClosedResourceError", "EndOfStream"),
        *("ConnectionClosed", "URLError", "gaierror", "herror", "TimeoutError"),
    }
)
"""The names of error classes which mean that the connection to a host failed."""

_TIMEOUTS = ("Timeout", "TimeoutError", "TimeoutException", "TimeoutExpired")
_MCP = frozenset({"McpError", "MCPError"})
_MCP_KINDS: dict[int, ErrorKind] = {-32000: "network", -32001: "timeout"}
_NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


def class_names(error: BaseException) -> list[str]:
    """Return the name of the class of *error*, then the names of its base classes."""
    return [kind.__name__ for kind in type(error).__mro__]


def status_of(error: object) -> int | None:
    """Return the HTTP status of *error* or of its response; None if it has none."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 300 <= status < 600:
                return status
    return None


def error_kind(error: BaseException) -> ErrorKind | None:
    """Return the kind of *error* if it is about the network or a permission, else None.

    If *error* itself is about something else, its cause (`raise ... from cause`) is examined. For
    an exception group, its first error is examined.
    """
    for cause in _stated_causes(error):
        kind = _kind(cause)
        if kind is not None:
            return kind
    return None


def _stated_causes(error: BaseException) -> Iterator[BaseException]:
    visited: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in visited:
        visited.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        else:
            cause = cause.__cause__


def _kind(error: BaseException) -> ErrorKind | None:
    if (status := status_of(error)) is not None:
        return _of_status(status)
    names = class_names(error)
    if _MCP.intersection(names):
        return _MCP_KINDS.get(getattr(error, "code", 0))
    for name in names:
        if name == "PermissionError":
            return "permission"
        if name in CONNECTION and name != "TimeoutError":
            return "network"
        if name.endswith(_TIMEOUTS):
            return "timeout"
    if isinstance(error, OSError) and error.errno in _NO_WAY:
        return "network"
    return None


def _of_status(status: int) -> ErrorKind | None:
    if status in (401, 403):
        return "permission"
    if status in (408, 504):
        return "timeout"
    if status in PASSING_STATUSES:
        return "network"
    return None


# --- the most bytes of an answer ----------------------------------------------------------

MOST_BYTES = 100_000_000
"""The most bytes of one answer, one event or one line. This is enough for images."""


def too_long() -> str:
    """Return the phrase for an answer that is too long."""
    return f"it has more than {MOST_BYTES:,} bytes (decompressed), which is the limit"


def limit_answer(response: Any, *, is_stream: bool = False) -> None:
    """Limit the body of *response* to `MOST_BYTES`; reading more raises a `BodyError`.

    Call this before the body is read, for example in a hook of the client. The body is decompressed
    piece by piece, and the headers of *response* no longer say that it was compressed.

    Args:
        response: A response of httpx or httpx2, of a blocking or an async client.
        is_stream: Whether the body is a stream of events that may never end. Then it is only
            decompressed, and its reader limits each event.
    """
    package: Any = sys.modules[type(response).__module__.partition(".")[0]]
    packed = package.Response(
        response.status_code,
        headers=response.headers,
        stream=response.stream,
        request=response.request,
    )
    most: int | None = MOST_BYTES
    if is_stream:
        most = None
    response.stream = _kind_of_stream(package)(packed, most)
    response.headers.pop("content-encoding", None)
    response.headers.pop("content-length", None)


async def limit_async_answer(response: Any) -> None:
    """Do the same as `limit_answer`, as a coroutine function for the hook of an async client."""
    limit_answer(response)


class _LimitedBody:
    """The decompressed body of a response, with a limit on its bytes.

    `_kind_of_stream` adds the base classes that httpx or httpx2 requires.
    """

    def __init__(self, packed: Any, most: int | None) -> None:
        self._packed, self._most, self._count = packed, most, 0
        # Made once: a reader may begin to read again where another one ended
        self._pieces, self._async_pieces = packed.iter_bytes(), packed.aiter_bytes()

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            yield self._checked(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._async_pieces:
            yield self._checked(piece)

    def _checked(self, piece: bytes) -> bytes:
        self._count += len(piece)
        if self._most is not None and self._count > self._most:
            msg = f"An answer is too long: {too_long()}"
            raise BodyError(msg)
        return piece

    def close(self) -> None:
        self._packed.close()

    async def aclose(self) -> None:
        await self._packed.aclose()


@cache
def _kind_of_stream(package: Any) -> type[_LimitedBody]:
    """Return the subclass of `_LimitedBody` for the streams of *package* (httpx or httpx2).

    All responses share one class. A class refers to itself, so a new class for each response would
    keep an unread body alive until a later garbage collection.
    """
    return type("LimitedBody", (_LimitedBody, package.SyncByteStream, package.AsyncByteStream), {})
