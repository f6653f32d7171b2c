"""Keep one HTTP client with open connections for the background loop."""

from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, TypeVar
from weakref import finalize

from toolbench.core.background_loop import portal

T = TypeVar("T")
Close = Callable[[Any], Coroutine[Any, Any, object]]


class Pooled(Generic[T]):
    """An HTTP client, made at its first use, and made again for each new background loop.

    A connection of an earlier loop would never answer. Open connections are closed when
    this object is collected, or before the loop stops.

    Args:
        make: Makes a client, in the loop.
        close: Closes a client; None if the owner of the client closes it.
    """

    def __init__(self, make: Callable[[], T], close: Close | None) -> None:
        self._make = make
        self._clients = _Clients(close)
        finalize(self, self._clients.close_soon).atexit = False

    def here(self) -> T:
        """Return the client of the background loop; call it only in that loop."""
        client: T = self._clients.of(portal.loop, self._make)
        return client

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        self._clients.close_soon(within=5.0)


class _Clients:
    """The client of one loop, and the function that closes the client.

    This object has no reference to `Pooled`, so that an unused `Pooled` can be collected.
    """

    def __init__(self, close: Close | None) -> None:
        self._close = close
        self._open: list[tuple[AbstractEventLoop, Any]] = []

    def of(self, loop: AbstractEventLoop, make: Callable[[], Any]) -> Any:
        if not self._open or self._open[0][0] is not loop:
            self._open[:] = [(loop, make())]
            if self._close is not None:
                portal.close_first(self.aclose)
        return self._open[0][1]

    def close_soon(self, within: float | None = None) -> None:
        """Close the client from any thread, and wait at most *within* seconds until it is closed.

        If *within* is None, do not wait.
        """
        if not self._open or self._close is None or not self._open[0][0].is_running():
            self._open.clear()
            return
        # A failed close does no harm
        with suppress(Exception):
            closing = run_coroutine_threadsafe(self.aclose(), self._open[0][0])
            if within is not None:
                closing.result(within)

    async def aclose(self) -> None:
        """Close the client, in its loop."""
        portal.is_closed(self.aclose)
        while self._open and self._close is not None:
            await self._close(self._open.pop()[1])
