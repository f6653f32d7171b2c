"""Limits for the connections to a web server of this process, so that no client can use it up.

A connection that sends nothing, or half a request, costs a file descriptor. A process that has none
left cannot open a file, and a kernel without one loses its output. uvicorn's own `limit_concurrency`
counts whole requests only.
"""

from asyncio import TimerHandle, Transport
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:
    # Windows, where no such limit exists
    resource = None  # type: ignore[assignment]

REQUEST_SECONDS = 10
"""The seconds within which a request must be there, and a connection must show that it is known."""
_MOST_CONNECTIONS = 128
# Of the descriptors that the process may open
_SHARE = 8

Headers = Iterable[tuple[bytes, bytes]]


class LimitedConnection(H11Protocol):
    """A connection that is closed if its client is too slow, or takes the place of others."""

    def __init__(
        self,
        *arguments: Any,
        most: int,
        is_known: Callable[[Headers], bool],
        **options: Any,
    ) -> None:
        """Make one of at most *most* connections.

        Args:
            *arguments: What uvicorn gives.
            most: How many connections may be open.
            is_known: Tells by the headers of a request whether its client is one of ours.
            **options: What uvicorn gives.
        """
        super().__init__(*arguments, **options)
        self._most = most
        self._is_known = is_known
        self._belongs = False
        self._since = self.loop.time()
        self._seconds = 0
        self._timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to count the time; if there are too many connections, close the oldest stranger."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(1, self._tick)
        if len(self.connections) <= self._most:
            return
        # Itself, if all others belong here: then this one is refused before anything is read
        strangers = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and not connection._belongs
        ]
        oldest = min(strangers, key=lambda connection: connection._since)
        self.connections.discard(oldest)
        oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read on, and look whether the client is known."""
        super().data_received(data)
        if not self._belongs and self.headers:
            self._belongs = self._is_known(self.headers)

    def on_response_complete(self) -> None:
        """A known client has its time again for the next request."""
        if self._belongs:
            self._seconds = 0
        super().on_response_complete()

    def _tick(self) -> None:
        """Count a second. While the whole process stands still, none is counted."""
        # None before the first request
        cycle: Any = self.cycle
        is_answering = cycle and not cycle.response_complete and not cycle.more_body
        if self._belongs and is_answering:
            self._seconds = 0
        else:
            self._seconds += 1
        if self._seconds >= REQUEST_SECONDS:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(1, self._tick)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the count."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


def limit_connections(config: uvicorn.Config, is_known: Callable[[Headers], bool]) -> None:
    """Limit the connections of a server with *config*, before it starts.

    Where too many are open, those that have sent no request of a known client make room, the oldest
    first: so strangers never take the place of a known client.

    Args:
        config: The settings of the server.
        is_known: Tells by the headers of a request whether its client is one of ours.
    """
    most = _MOST_CONNECTIONS
    if resource is not None:
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if descriptors != resource.RLIM_INFINITY:
            most = min(most, max(1, descriptors // _SHARE))
    config.http = partial(LimitedConnection, most=most, is_known=is_known)  # type: ignore[assignment]
    # asyncio accepts as many at once before it looks at the first
    config.backlog = max(1, most // 4)
