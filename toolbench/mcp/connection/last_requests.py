"""The requests that a connection sends before it closes, such as the cancel of a task."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from toolbench.core.background_loop import portal

_SECONDS = 8.0  # the limit for all requests together


class LastRequests:
    """Requests of one connection. The connection waits for these requests before it closes.

    The methods run in the background loop.
    """

    def __init__(self) -> None:
        """Make an empty collection of requests."""
        self._ends: set[asyncio.Event] = set()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Let the connection and the loop close only after the `with` block."""
        end = asyncio.Event()
        self._ends.add(end)
        portal.close_first(end.wait)
        try:
            yield
        finally:
            end.set()
            self._ends.discard(end)
            portal.is_closed(end.wait)

    async def are_sent(self) -> None:
        """Wait until the `with` blocks of `sending` have ended, at most `_SECONDS`."""
        with anyio.move_on_after(_SECONDS):
            for end in list(self._ends):
                await end.wait()
