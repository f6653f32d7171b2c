"""The most bytes of one answer of a server or a model, counted after decompression.

A body of 1 MB can be 1 GB when it is decompressed, and no error of memory tells who sent it.
"""

import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

from toolbench.errors import BodyError

MOST_BYTES = 100_000_000
"""The most bytes of one answer, one event or one line: enough for images, but not without end."""


def too_long() -> str:
    """Return the phrase that says that an answer is too long."""
    return f"it has more than {MOST_BYTES:,} bytes (decompressed), and more are not read"


def limit_answer(response: Any, *, is_stream: bool = False) -> None:
    """Let nobody read more than `MOST_BYTES` of *response*; reading more raises a `BodyError`.

    Call it before the body is read, for example in a hook of the client. The body is decompressed
    piece by piece, and *response* then says no more that it was compressed.

    Args:
        response: A response of httpx or httpx2, of a blocking or an async client.
        is_stream: Whether it is a stream of events that may go on for ever: then it is only
            decompressed, and its reader limits each event.
    """
    package: Any = sys.modules[type(response).__module__.partition(".")[0]]
    packed = package.Response(
        response.status_code,
        headers=response.headers,
        stream=response.stream,
        request=response.request,
    )
    response.stream = _kind_of_stream(package)(packed, None if is_stream else MOST_BYTES)
    response.headers.pop("content-encoding", None)
    response.headers.pop("content-length", None)


async def limit_async_answer(response: Any) -> None:
    """Do the same in a hook of an async client."""
    limit_answer(response)


class _LimitedBody:
    """The decompressed body of a response; its kind for a package is made by `_kind_of_stream`."""

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
    """Return the class of streams for *package*, httpx or httpx2.

    There is one for all responses: a class is a circle, which would keep an unread body until some
    later garbage collection, in the middle of other work.
    """
    return type("LimitedBody", (_LimitedBody, package.SyncByteStream, package.AsyncByteStream), {})
