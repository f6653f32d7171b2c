"""The servers this process is connected to, for tools that are known by their names only."""

from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from toolbench.errors import ToolNotFoundError, did_you_mean

_THERE = ("connected", "incomplete", "lost")


class Session(Protocol):
    """What is asked of a session here."""

    name: str
    tools: Any
    """Its tools by the server's names for them."""
    entry: Any
    """How it is reached."""

    @property
    def status(self) -> str:
        """Its state, in a word."""


class ConnectedServers:
    """Sessions by the names of their servers. A session without users disappears."""

    def __init__(self) -> None:
        """Start with none."""
        self._numbers: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
        self._count = count()

    def add(self, session: Session) -> None:
        """Note that *session* was connected just now."""
        self._numbers[session] = next(self._count)

    def session(self, server: str) -> Session | None:
        """Return the session of the server called *server*, which was connected last."""
        return next((s for s in self.sessions if s.name == server), None)

    @property
    def sessions(self) -> list[Session]:
        """Those that are connected, the latest first."""
        numbered = sorted(self._numbers.items(), key=lambda item: item[1], reverse=True)
        return [session for session, _ in numbered if session.status in _THERE]

    def tool(self, server: str, name: str) -> Any:
        """Return the tool *name* of the server called *server*, which was connected last.

        A server that is closed or failed is not connected; nothing is started here.

        Raises:
            ToolNotFoundError: If no such server is connected, or it has no such tool.
        """
        session = self.session(server)
        if session is not None:
            return session.tools[name]
        near = did_you_mean(server, {session.name for session in self.sessions})
        msg = (
            f"Tool {name!r} belongs to server {server!r}, which is not connected.{near} "
            f"Connect it first: %mcp connect {server} ..., or client.connect({server!r}, ...)."
        )
        raise ToolNotFoundError(msg)


connected = ConnectedServers()
"""The servers of this process."""
