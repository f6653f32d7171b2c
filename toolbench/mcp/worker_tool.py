"""Call a server's tool on a worker of a cluster, in a session that is closed when idle.

The worker gets the server's entry as it is in the configuration. Variables (`${TOKEN}`) are
filled in on the worker, from its own environment: their values are never sent.
"""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock, Timer
from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.servers import connected

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.session import MCPServerSession

IDLE = 10.0
"""Seconds without a call after which a worker closes its session."""


@dataclass(frozen=True)
class WorkerTool:
    """Data from which a worker makes a tool of a server. It is sent to the worker."""

    server: str
    remote_name: str
    entry: ServerEntry
    client_type: "type[MCPClient]"
    """The class of the client that connects the server on the worker. It is here, and not imported,
    because clients are made of tools, and tools of this module."""

    @classmethod
    def of(cls, server: str, remote_name: str) -> "WorkerTool":
        """Return the data for the tool *remote_name* of the connected server *server*.

        Raises:
            ServerError: If the server is an object of this process: no other process reaches it.
            ToolNotFoundError: If no such server is connected.
        """
        session = connected.session(server)
        client = None if session is None else session.client
        if session is None or client is None:
            msg = f"The server {server!r} is not connected: connect it first."
            raise ToolNotFoundError(msg)
        entry = session.entry
        if entry.server is not None and not isinstance(entry.server, str):
            msg = (
                f"{server} is an object of this process: a worker cannot reach it. Start it as a "
                "program, or give its URL."
            )
            raise ServerError(msg)
        return cls(server, remote_name, entry, type(client))

    @contextmanager
    def resolved(self) -> Iterator[Any]:
        """Yield the tool from a session of this worker. The session is connected first if needed.

        Raises:
            ServerError: If the server cannot be reached from the worker.
        """
        with sessions.connected(self) as session:
            yield session.tools[self.remote_name]


class WorkerSessions:
    """The sessions of this worker; all close when no session was used for some seconds."""

    def __init__(self, idle: float = IDLE) -> None:
        """Close sessions after *idle* seconds without a use."""
        self._idle = idle
        self._clients: list[tuple[ServerEntry, MCPClient]] = []
        self._users = 0
        self._timer: Timer | None = None
        # Also held while a server is connected: two calls of one server share its session
        self._lock = RLock()

    @contextmanager
    def connected(self, tool: WorkerTool) -> "Iterator[MCPServerSession]":
        """Yield the session with the server of *tool*.

        It stays open during the use, and a little longer.
        """
        with self._lock:
            self._users += 1
            self._stop_timer()
        try:
            with self._lock:
                client = self._client(tool)
            yield client.servers[tool.server]
        finally:
            with self._lock:
                self._users -= 1
                self._stop_timer()
                if not self._users:
                    self._timer = Timer(self._idle, self._close_if_idle)
                    self._timer.daemon = True
                    self._timer.start()

    def _client(self, tool: WorkerTool) -> "MCPClient":
        for entry, client in self._clients:
            if entry == tool.entry and tool.server in client.servers:
                return client
        client = tool.client_type()
        client.connect(tool.server, tool.entry)
        self._clients.append((tool.entry, client))
        return client

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        with self._lock:
            if not self._users:
                self.close()

    def close(self) -> None:
        """Close all sessions; the next use opens a new one."""
        with self._lock:
            clients, self._clients = self._clients, []
            self._stop_timer()
        for _, client in clients:
            client.sync_close()


sessions = WorkerSessions()
"""The sessions of this process."""
atexit.register(sessions.close)
