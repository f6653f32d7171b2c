"""Find a connected server, or one of its tools, by name; close several servers at once."""

from collections.abc import Iterable
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from toolbench.core.registry import default_registry
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import ToolNotFoundError, did_you_mean

_THERE = ("connected", "incomplete", "lost")


class Session(Protocol):
    """The protocol of the sessions that `ConnectedServers` finds and closes."""

    name: str
    tools: Any
    """The tools, by their names on the server."""
    entry: Any
    """The configuration of the server."""

    @property
    def portable_entry(self) -> Any:
        """The configuration with which the server can be connected again, from any folder."""

    @property
    def status(self) -> str:
        """The state of the session, as one word."""

    async def aclose(self) -> None:
        """Close the session; await this in the background loop."""


class ConnectedServers:
    """Sessions by the names of their servers. The references to sessions are weak."""

    def __init__(self) -> None:
        """Make an empty collection."""
        self._numbers: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
        self._count = count()

    def add(self, session: Session) -> None:
        """Add *session*, which was just connected."""
        self._numbers[session] = next(self._count)
        default_registry.find_at_server = self.tool_again

    def session(self, server: str) -> Session | None:
        """Return the newest session of the server called *server*; None if it is not connected."""
        return next((s for s in self.sessions if s.name == server), None)

    @property
    def sessions(self) -> list[Session]:
        """The connected sessions, newest first."""
        # Not `items()`: another thread may add a session meanwhile
        known = [s for ref in self._numbers.keyrefs() if (s := ref()) is not None]
        newest_first = sorted(known, key=self._numbers.__getitem__, reverse=True)
        return [session for session in newest_first if session.status in _THERE]

    def tool(self, server: str, name: str) -> Any:
        """Return the tool *name* of the newest session of the server called *server*.

        Sessions that are closed or failed do not count; no server is started.

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

    def tool_again(self, address: ToolAddress, tool: Any) -> Any:
        """Return *tool* as it is listed now; if its session is over, that of the present session."""
        if tool is not None:
            caller = getattr(tool.executor, "caller", None)
            if caller in self.sessions or self.session(address.server) is None:
                return tool.as_listed()
        return self.tool(*address)


connected = ConnectedServers()
"""The servers of this process."""


async def all_closed(sessions: Iterable[Session]) -> None:
    """Close all *sessions* at the same time; await this in the background loop."""
    from anyio import CancelScope, create_task_group  # noqa: PLC0415 - asyncio, only for what is async

    with CancelScope(shield=True):
        async with create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(session.aclose)
