"""The servers of a client, and all connected servers of this process.

`Servers` keeps all sessions of one client: connected sessions, failed ones, and former ones, which
were disconnected or replaced. `connected` finds the sessions of all clients by the names of the
servers.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import count
from shlex import quote
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from toolbench.core.registry import default_registry
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

AnyTool = ToolDefinition[Any, Any]
Sessions = Mapping[str, "MCPServerSession"]

_THERE = ("connected", "incomplete", "lost")


class _State(NamedTuple):
    """The sessions of a client at one moment; this object never changes."""

    present: Sessions = MappingProxyType({})
    former: Sessions = MappingProxyType({})
    waiting: frozenset["MCPServerSession"] = frozenset()
    """Sessions that will replace another session once they are connected."""
    others: frozenset["MCPServerSession"] = frozenset()
    """Sessions that were connected again after another session had replaced them."""

    def with_present(self, session: "MCPServerSession") -> "_State":
        """Return a state in which *session* is the client's current session of its name."""
        return _State(
            MappingProxyType({**self.present, session.name: session}),
            _without(self.former, session.name),
            self.waiting - {session},
            self.others - {session},
        )

    def with_former(self, session: "MCPServerSession") -> "_State":
        """Return a state in which *session* is the former session of its name."""
        return _State(
            _without(self.present, session.name),
            MappingProxyType({**self.former, session.name: session}),
            self.waiting - {session},
            self.others - {session},
        )


def _without(sessions: Sessions, name: str) -> Sessions:
    return MappingProxyType({n: session for n, session in sessions.items() if n != name})


class Servers:
    """The sessions of one client, which any thread may read and change.

    A mapping of sessions is never modified; each change creates a new mapping. The caller that
    removes a session must also close it. Otherwise, the process of its server would continue to
    run.
    """

    def __init__(self) -> None:
        """Create a collection without servers."""
        # Held while the state is read and replaced, so that no change is lost; never held while
        # waiting for a server
        self._lock = Lock()
        self._state = _State()

    @property
    def present(self) -> Sessions:
        """The sessions by name, including failed sessions."""
        return self._state.present

    @property
    def former(self) -> Sessions:
        """The sessions that were disconnected, by name."""
        return self._state.former

    @property
    def known(self) -> Sessions:
        """The sessions in `present`, followed by those in `former`."""
        state = self._state
        return MappingProxyType({**state.present, **state.former})

    @property
    def all(self) -> list["MCPServerSession"]:
        """All sessions, including those that cannot be found by name."""
        state = self._state
        return [*state.present.values(), *state.former.values(), *state.waiting, *state.others]

    def session(self, name: str) -> "MCPServerSession":
        """Return the client's current session called *name*.

        Raises:
            ToolNotFoundError: If there is no such session; the message names the sessions that
                exist.
        """
        state = self._state
        if name not in state.present:
            raise _no_server(name, state)
        return state.present[name]

    def take_out(self, name: str) -> "MCPServerSession":
        """Make the session called *name* a former one, and return it; the caller closes it.

        Raises:
            ToolNotFoundError: If there is no such session.
        """
        with self._lock:
            session = self.session(name)
            self._state = self._state.with_former(session)
        return session

    def put_back(self, name: str) -> "MCPServerSession":
        """Return the session called *name*; if it is a former session, make it current again.

        Raises:
            ToolNotFoundError: If there is no such session.
        """
        with self._lock:
            session = self._state.former.get(name) or self.session(name)
            self._state = self._state.with_present(session)
        return session

    def forget(self, name: str) -> "MCPServerSession":
        """Remove the current or former session called *name*, and return it; the caller closes it.

        Raises:
            ToolNotFoundError: If there is no such session.
        """
        with self._lock:
            state = self._state
            session = state.former.get(name) or self.session(name)
            present, former = _without(state.present, name), _without(state.former, name)
            self._state = state._replace(present=present, former=former)
        return session

    def note_connected(self, session: "MCPServerSession") -> None:
        """Register *session* under its name again, after it has been reconnected.

        If another session has taken the name, *session* is only remembered, so that it is closed
        when the client is closed.
        """
        with self._lock:
            state = self._state
            if state.present.get(session.name) is session or session in state.waiting:
                return
            if state.former.get(session.name) is session:
                self._state = state.with_present(session)
            else:
                open_ones = {other for other in state.others if other.status != "closed"}
                self._state = state._replace(others=frozenset({*open_ones, session}))

    # --- connecting and closing -----------------------------------------------------

    async def connect(self, sessions: Collection["MCPServerSession"]) -> dict[str, str]:
        """Connect *sessions* at the same time, and return the errors of failed sessions by name.

        A new session replaces an old session of the same name, usually before it is connected.
        However, if the old session is connected with a different configuration, it is replaced only
        after the new session is connected. If the new session fails, such an old session is kept.
        An old session that was disconnected is also kept, and can be connected again. Await this in
        the background loop.
        """
        from anyio import create_task_group  # noqa: PLC0415 - asyncio, only for what is async

        failed: dict[str, str] = {}
        displaced: dict[MCPServerSession, MCPServerSession | None] = {}
        try:
            async with create_task_group() as tasks:
                for session in sessions:
                    replaced, displaced[session] = self._begin(session)
                    if replaced is not None:
                        # Nobody else can reach this session, so it must be closed even after an
                        # interrupt
                        tasks.start_soon(all_closed, [replaced])
                    tasks.start_soon(self._connect, session, displaced[session], failed)
        except BaseException:
            # Interrupted: close all sessions, so that no part of a configuration remains. If one is
            # still connecting, another caller has requested that meanwhile
            await all_closed(s for s in sessions if s.status != "connecting")
            for session, former in displaced.items():
                if session.status != "connecting":
                    self._give_up(session, former)
            raise
        return failed

    def _begin(
        self, session: "MCPServerSession"
    ) -> tuple["MCPServerSession | None", "MCPServerSession | None"]:
        """Register *session* under its name, now or when it is connected.

        Return the session that was replaced now, which must be closed, and the former session of
        the same name, to be restored if *session* fails. Either may be None.
        """
        with self._lock:
            state = self._state
            before = state.present.get(session.name)
            former = state.former.get(session.name)
            if before is not None and before.is_connected and before.entry != session.entry:
                self._state = state._replace(waiting=state.waiting | {session})
                return None, None
            self._state = state.with_present(session)
        return before, former

    async def _connect(
        self,
        session: "MCPServerSession",
        former: "MCPServerSession | None",
        failed: dict[str, str],
    ) -> None:
        try:
            await session.aconnect()
        except ServerError as error:
            failed[session.name] = str(error)
            if self._give_up(session, former):
                # The session is not in use, so its recording ends
                await session.aclose()
                failed[session.name] += f"\n{kept(session.name, self.present)}"
            return
        replaced = self._arrive(session)
        if replaced is not None:
            await all_closed([replaced])
        if replaced is session:
            failed[session.name] = (
                f"Server {session.name!r} was disconnected while it was connecting: another connect "
                "replaced it."
            )

    def _arrive(self, session: "MCPServerSession") -> "MCPServerSession | None":
        """Register the connected *session* under its name, if `_begin` has not done so.

        Return the session that must be closed now; None if there is none. It is the replaced
        session, or *session* itself if it was removed while it was connecting.
        """
        with self._lock:
            state = self._state
            before = state.present.get(session.name)
            if before is session:
                return None
            if session not in state.waiting:
                return session
            self._state = state.with_present(session)
        return before

    def _give_up(self, session: "MCPServerSession", former: "MCPServerSession | None") -> bool:
        """Remove the failed *session* and restore *former*; tell whether *session* was removed.

        If there is no other session of the same name, *session* is kept, because it has the error.
        """
        with self._lock:
            state = self._state
            if former is not None and state.present.get(session.name) is session:
                self._state = state.with_former(former)
            elif session in state.waiting:
                self._state = state._replace(waiting=state.waiting - {session})
            else:
                return False
        return True

    async def close(self) -> None:
        """Close all sessions, but keep them here. Await this in the background loop."""
        await all_closed(self.all)


async def all_closed(sessions: Iterable["MCPServerSession"]) -> None:
    """Close all *sessions* at the same time; await this in the background loop."""
    from anyio import CancelScope, create_task_group  # noqa: PLC0415 - asyncio, only for what is async

    # An interrupt must leave no process behind
    with CancelScope(shield=True):
        async with create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(session.aclose)


# --- messages about missing servers ---------------------------------------------------


def kept(name: str, present: Sessions) -> str:
    """Return a sentence that the earlier session *name* remains, because the new one failed."""
    if name in present:
        return f"The server {name!r} from before is still connected."
    return f"The server {name!r} from before is still known. {way_back(name)}"


def way_back(server: str) -> str:
    """Return a sentence on how to connect the disconnected *server* again."""
    return f"%mcp reconnect {quote(server)}, or reconnect({server!r}) of its client, connects it again."


def way_to_tool(sessions: Sessions, tool: str, there: Iterable[AnyTool]) -> str:
    """Return advice for the user who asked for *tool*, which was not found.

    The advice names the tools of connected servers that can be meant, and a disconnected server
    that has the tool. If there is no advice, return an empty string.

    Args:
        sessions: The sessions of the disconnected servers, by name.
        tool: The name or the address of a tool.
        there: The tools of the connected servers.
    """
    names = []
    for address in dict.fromkeys(map(ToolAddress.of, there)):
        if address.name == tool:
            names.append(repr(str(address)))
    way = ""
    if names:
        verb = "are" if len(names) > 1 else "is"
        way = f" There {verb} {' and '.join(names)}."
    for server, session in sessions.items():
        for name in session.tools.raw:
            address = ToolAddress(server, name)
            if tool in (name, str(address), address.full_name):
                subject = "Another one" if names else "It"
                return (
                    f"{way} {subject} is a tool of server {server!r}, which is disconnected. "
                    f"{way_back(server)}"
                )
    return way


def _no_server(name: str, state: _State) -> ToolNotFoundError:
    if name in state.former:
        return ToolNotFoundError(f"Server {name!r} is disconnected. {way_back(name)}")
    way = did_you_mean(name, {**state.present, **state.former})
    if not way and state.present:
        states = [f"{session.name} ({session.status})" for session in state.present.values()]
        way = f" Servers: {', '.join(states)}."
    return ToolNotFoundError(f"No server {name!r}.{way}")


# --- the connected servers of this process --------------------------------------------


class ConnectedServers:
    """The connected sessions of this process, held by weak references."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self._numbers: WeakKeyDictionary[MCPServerSession, int] = WeakKeyDictionary()
        self._count = count()

    def add(self, session: "MCPServerSession") -> None:
        """Add *session*, which was just connected, or is under development."""
        self._numbers[session] = next(self._count)
        default_registry.find_at_server = self.tool_again

    def session(self, server: str) -> "MCPServerSession | None":
        """Return the newest session of the server called *server*; None if it is not connected."""
        return next((s for s in self.sessions if s.name == server), None)

    @property
    def sessions(self) -> list["MCPServerSession"]:
        """The connected sessions, newest first."""
        return [session for session in self._known if session.status in _THERE]

    @property
    def developed(self) -> list["MCPServerSession"]:
        """The sessions with servers under development, connected or not, newest first."""
        return [session for session in self._known if session.development is not None]

    @property
    def _known(self) -> list["MCPServerSession"]:
        # Not `items()`: another thread may add a session meanwhile
        known = [s for ref in self._numbers.keyrefs() if (s := ref()) is not None]
        return sorted(known, key=self._numbers.__getitem__, reverse=True)

    def tool(self, server: str, name: str) -> Any:
        """Return the tool *name* of the connected server called *server*.

        If several sessions are connected to servers of this name, the newest session is used. No
        server is started.

        Raises:
            ToolNotFoundError: If no server called *server* is connected, or it does not have the
                tool.
        """
        session = self.session(server)
        if session is not None:
            return session.tools[name]
        near = did_you_mean(server, {session.name for session in self.sessions})
        msg = (
            f"Tool {name!r} belongs to server {server!r}, which is not connected.{near} "
            f"Connect it first: %mcp connect {quote(server)} ..., or client.connect({server!r}, ...)."
        )
        raise ToolNotFoundError(msg)

    def tool_again(self, address: ToolAddress, tool: Any) -> Any:
        """Return *tool* as its server lists it now, from a new session if its own has ended."""
        if tool is not None:
            session = getattr(tool.executor, "client", None)
            if session in self.sessions or self.session(address.server) is None:
                return tool.as_listed()
        return self.tool(*address)


connected = ConnectedServers()
"""The servers of this process."""


def session(name: str) -> "MCPServerSession":
    """Return the session of a connected server, for example one that `%mcp connect` connected.

    If several clients have connected a server of this name, the newest session is returned. No
    server is started.

    Raises:
        ToolNotFoundError: If no server of this name is connected.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools, session
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("lib")
        >>> server.prompt("recommend", "Recommend a {mood} book.", arguments=["mood"])
        >>> with create_mcp_tools(server):
        ...     session("lib").get_prompt("recommend", mood="cheerful").text
        'Recommend a cheerful book.'
    """
    found = connected.session(name)
    if found is None:
        near = did_you_mean(name, {one.name for one in connected.sessions})
        way = near or " %mcp list shows the servers, %mcp connect connects one."
        msg = f"No server {name!r} is connected.{way}"
        raise ToolNotFoundError(msg)
    return found
