"""The requests that a connection sends before it closes, such as the cancel of a task."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from toolbench.core.background_loop import portal

# The limit for all requests together
_SECONDS = 8.0


class LastRequests:
    """The requests of one connection for which the connection waits before it closes.

    The methods run in the background loop.
    """

    def __init__(self) -> None:
        """Make an empty collection of requests."""
        self._ends: set[asyncio.Event] = set()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Keep the connection and the background loop open until the `with` block has ended."""
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
