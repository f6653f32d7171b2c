"""Call a server's tool on a worker of a cluster, in a session that is closed when idle.

The worker receives the configuration of the server and connects to the server itself. Variables
such as `${TOKEN}` are replaced on the worker, from the worker's environment. Their values are never
sent to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.servers import connected

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.server_session import MCPServerSession

IDLE = 10.0
"""Seconds without a call after which a worker closes its session."""


@dataclass(frozen=True)
class WorkerTool:
    """A picklable description of a server's tool, from which a worker can recreate the tool."""

    server: str
    remote_name: str
    entry: ServerEntry
    client_type: "type[MCPClient]"
    """The class of the client with which the worker connects to the server. It is passed as a
    field, because importing it here would be circular."""

    @classmethod
    def of(cls, server: str, remote_name: str) -> "WorkerTool":
        """Return an object with which a worker can call *remote_name*, a tool of *server*.

        Raises:
            ServerError: If the server is a Python object, which other processes cannot reach.
            ToolNotFoundError: If *server* is not connected.
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
        """Yield the tool, ready to be called on this worker.

        If this worker is not connected to the server yet, it connects first.

        Raises:
            ServerError: If the server cannot be reached from the worker.
        """
        with sessions.connected(self) as session:
            yield session.tools[self.remote_name]


class _Server:
    """The session of this worker with one server, which is connected when it is first used."""

    def __init__(self, tool: WorkerTool) -> None:
        self._name, self._entry = tool.server, tool.entry
        self.client = tool.client_type()
        # Held while connecting, so that simultaneous calls share one session; other servers do not
        # wait
        self._connecting = Lock()
        self._is_connected = False

    def has(self, tool: WorkerTool) -> bool:
        """Tell whether *tool* belongs to this server."""
        return (self._name, self._entry) == (tool.server, tool.entry)

    def session(self) -> "MCPServerSession":
        """Return the session; connect it first if this has not succeeded before.

        Raises:
            ServerError: If the server cannot be reached.
        """
        with self._connecting:
            if not self._is_connected:
                self.client.connect(self._name, self._entry)
                self._is_connected = True
        return self.client.servers[self._name]


class WorkerSessions:
    """The sessions of this worker; all are closed when none has been used for some seconds."""

    def __init__(self, idle: float = IDLE) -> None:
        """Create a collection whose sessions are closed after *idle* seconds without use."""
        self._idle = idle
        # Protects the fields below; never held while waiting for a server
        self._lock = Lock()
        self._servers: list[_Server] = []
        self._users = 0
        self._timer: Timer | None = None

    @contextmanager
    def connected(self, tool: WorkerTool) -> "Iterator[MCPServerSession]":
        """Yield the session with the server of *tool*.

        The session stays open during the `with` block, and for some seconds after it.
        """
        with self._lock:
            self._users += 1
            self._stop_timer()
        try:
            yield self._server(tool).session()
        finally:
            with self._lock:
                self._users -= 1
                self._stop_timer()
                if not self._users:
                    self._timer = Timer(self._idle, self._close_if_idle)
                    self._timer.daemon = True
                    self._timer.start()

    def _server(self, tool: WorkerTool) -> _Server:
        with self._lock:
            for server in self._servers:
                if server.has(tool):
                    return server
            server = _Server(tool)
            self._servers.append(server)
            return server

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        with self._lock:
            if self._users:
                return
            servers, self._servers = self._servers, []
        for server in servers:
            server.client.sync_close()


# The background loop closes them when the process ends
sessions = WorkerSessions()
"""The sessions of this process."""
