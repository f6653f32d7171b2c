"""Limit the connections to a web server in this process, so that clients cannot exhaust it.

A connection that sends nothing, or half a request, still uses a file descriptor. Without free
descriptors, this process could not open files, and a kernel would lose its output. uvicorn's own
`limit_concurrency` does not help: it counts complete requests only.
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
"""The time, in seconds, in which a client must send a request that shows that it is known."""
_MOST_CONNECTIONS = 128
# Of the descriptors that the process may open
_SHARE = 8

Headers = Iterable[tuple[bytes, bytes]]


class LimitedConnection(H11Protocol):
    """A connection that is closed if its client is slow or there are too many connections."""

    def __init__(
        self,
        *arguments: Any,
        most: int,
        is_known: Callable[[Headers], bool],
        **options: Any,
    ) -> None:
        """Make a connection, which is closed if the server has too many connections.

        Args:
            *arguments: The arguments that uvicorn passes.
            most: The number of connections that may be open at the same time.
            is_known: A function that gets the headers of a request, and tells whether they are
                from a known client, for example because they have a valid token.
            **options: The options that uvicorn passes.
        """
        super().__init__(*arguments, **options)
        self._most = most
        self._is_known = is_known
        self._belongs = False
        self._since = self.loop.time()
        self._seconds = 0
        self._timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the timer. If too many connections are open, close the oldest unknown one."""
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
        """Read on, and check whether the client is known."""
        super().data_received(data)
        if not self._belongs and self.headers:
            self._belongs = self._is_known(self.headers)

    def on_response_complete(self) -> None:
        """Reset the timer of a known client for its next request."""
        if self._belongs:
            self._seconds = 0
        super().on_response_complete()

    def _tick(self) -> None:
        """Count one second of waiting for the client, and close the connection after the limit.

        While the whole process is suspended, nothing is counted.
        """
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
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)


def limit_connections(config: uvicorn.Config, is_known: Callable[[Headers], bool]) -> None:
    """Limit the number of open connections of the server that has the settings *config*.

    Call this before the server starts. If too many connections are open, the server closes the
    oldest connection on which no known client has sent a request. Therefore, unknown clients cannot
    push out a known client.

    Args:
        config: The settings of the server.
        is_known: A function that gets the headers of a request and tells whether a known client
            sent it. For example, it can check whether the request has a valid token.
    """
    most = _MOST_CONNECTIONS
    if resource is not None:
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if descriptors != resource.RLIM_INFINITY:
            most = min(most, max(1, descriptors // _SHARE))
    config.http = partial(LimitedConnection, most=most, is_known=is_known)  # type: ignore[assignment]
    # asyncio accepts as many at once before it looks at the first
    config.backlog = max(1, most // 4)
