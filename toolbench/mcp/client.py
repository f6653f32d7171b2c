"""Several MCP servers as one collection of tools."""

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Any, Self

from toolbench.core.portal import portal
from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.config import read_config, read_entry
from toolbench.mcp.definition import MCPToolDefinition
from toolbench.mcp.handlers import Answerer
from toolbench.mcp.session import MCPServerSession


class MCPClient(Sequence[MCPToolDefinition]):
    """The tools of the connected servers, in order. Use it in `with`, or `sync_close()` it.

    A tool has the name its server gives it. If several servers use one name, each of these
    tools gets the name of its server in front: `git_status`. Source: OpenHands SDK.
    """

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        answerer: Answerer | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        """Make a client without servers; `connect` adds them.

        Args:
            timeout: Seconds for connecting to a server.
            answerer: Who answers what servers ask, where a call names nobody else.
            roots: File URLs that servers are told of.
        """
        self.timeout = timeout
        self.answerer = answerer
        self.roots = tuple(roots)
        self.servers: dict[str, MCPServerSession] = {}
        """The sessions by name, those that failed included."""
        weakref.finalize(self, _close_all, self.servers).atexit = False

    # --- the collection -----------------------------------------------------------

    @property
    def tools(self) -> list[MCPToolDefinition]:
        """The tools of all servers."""
        return _named([tool for s in self.servers.values() for tool in s.tools])

    def __iter__(self) -> Iterator[MCPToolDefinition]:
        return iter(self.tools)

    def __len__(self) -> int:
        return sum(len(session.tools) for session in self.servers.values())

    def __getitem__(self, index: Any) -> Any:
        """Return a tool by its position or its name.

        Raises:
            ToolNotFoundError: If no tool has that name.
        """
        return self.tool(index) if isinstance(index, str) else self.tools[index]

    def tool(self, name: str) -> MCPToolDefinition:
        """Return the tool called *name*.

        Raises:
            ToolNotFoundError: If there is none.
        """
        tools = {tool.name: tool for tool in self.tools}
        if name not in tools:
            msg = f"No connected server has a tool {name!r}.{did_you_mean(name, tools)}"
            raise ToolNotFoundError(msg)
        return tools[name]

    def server(self, name: str) -> MCPServerSession:
        """Return the session called *name*.

        Raises:
            ToolNotFoundError: If there is none.
        """
        if name not in self.servers:
            there = ", ".join(f"{s.name} ({s.status})" for s in self.servers.values())
            known = f" There is: {there}." if there else ""
            msg = f"No server {name!r}.{did_you_mean(name, self.servers) or known}"
            raise ToolNotFoundError(msg)
        return self.servers[name]

    def __repr__(self) -> str:
        return (
            f"MCPClient({', '.join(map(repr, self.servers.values())) or 'no servers'})"
        )

    # --- servers ------------------------------------------------------------------

    def connect(
        self, name: str, entry: Any, *, mode: str | None = None
    ) -> MCPServerSession:
        """Connect the server *name*, in place of the one that had the name.

        Args:
            name: What to call it.
            entry: A mapping as in a configuration, a URL, a FastMCP object, or the place of one.
            mode: `auto`, `legacy`, or a version of the protocol.

        Raises:
            ServerError: If it cannot be reached. The session stays in `servers`, to look at.
        """
        session = self._session(name, entry, mode)
        portal.call(self._replace, {name: session})
        if session.error is not None:
            raise ServerError(session.error)
        return session

    def add(
        self, config: Any, *, only: Sequence[str] | None = None
    ) -> list[MCPServerSession]:
        """Connect the servers of *config* side by side, those called *only* if given.

        One that fails does not stop the others: its session says what went wrong.

        Raises:
            ServerError: If the configuration cannot be used, no server at all answers, or what
                is asked for is disabled in it.
            ToolNotFoundError: If one of *only* is not in it.
        """
        entries = read_config(config)
        for name in only or ():
            if name not in entries:
                msg = f"The configuration has no server {name!r}.{did_you_mean(name, entries)}"
                raise ToolNotFoundError(msg)
        asked = entries if only is None else dict.fromkeys(only)
        wanted = {
            name: self._session(name, entry, None)
            for name, entry in entries.items()
            if name in asked and entry.enabled
        }
        disabled = [repr(name) for name in asked if name not in wanted]
        if disabled and (only or not wanted):
            msg = f"Disabled in the configuration: {', '.join(disabled)}."
            raise ServerError(msg)
        portal.call(self._replace, wanted)
        failed = [session.error for session in wanted.values() if session.error]
        if failed and len(failed) == len(wanted):
            raise ServerError("\n".join(failed))
        return list(wanted.values())

    def disconnect(self, name: str) -> None:
        """Disconnect the server *name* and forget it.

        Raises:
            ToolNotFoundError: If there is none.
        """
        session = self.server(name)
        session.close()
        del self.servers[name]

    def sync_close(self) -> None:
        """Disconnect every server. Closing twice does no harm."""
        portal.call(_all_closed, list(self.servers.values()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.sync_close()

    def _session(self, name: str, entry: Any, mode: str | None) -> MCPServerSession:
        before = self.servers.get(name)
        entry = read_entry(entry)
        same = before is not None and before.entry == entry
        remembered = before.mode if before is not None and same else "auto"
        return MCPServerSession(
            name,
            entry,
            timeout=self.timeout,
            mode=mode or remembered,
            answerer=self.answerer,
            roots=self.roots,
        )

    async def _replace(self, sessions: dict[str, MCPServerSession]) -> None:
        """Connect *sessions* side by side, each in place of the one with its name."""
        from anyio import create_task_group  # noqa: PLC0415 - beside its only use

        old = [self.servers[name] for name in sessions if name in self.servers]
        self.servers.update(sessions)
        try:
            async with create_task_group() as tasks:
                for session in old:
                    tasks.start_soon(session.aclose)
                for session in sessions.values():
                    tasks.start_soon(_connected, session)
        except BaseException:  # interrupted: half a collection helps nobody
            await _all_closed(list(sessions.values()))
            raise


def create_mcp_tools(
    config: Any,
    *,
    timeout: float = 30.0,
    answerer: Answerer | None = None,
    roots: Sequence[str] = (),
) -> MCPClient:
    """Connect the servers of *config* and return their tools.

    Args:
        config: FastMCP's format (`{"mcpServers": {...}}`), the path of a file with it or with
            what Claude, Cursor, VS Code, Windsurf or Codex write, one URL, a FastMCP object, or
            a `toolbench.testing.FakeMCPServer`.
        timeout: Seconds for connecting to a server; they are connected side by side.
        answerer: Who answers what servers ask while they work; with none, the answer is no.
        roots: File URLs that servers are told of.

    Raises:
        ServerError: If the configuration cannot be used, or no server at all answers. One that
            fails beside others does not: see `client.servers[name].error`.
    """
    client = MCPClient(timeout=timeout, answerer=answerer, roots=roots)
    try:
        client.add(config)
    except BaseException:  # interrupted too: no server is left running
        client.sync_close()
        raise
    return client


def _named(tools: list[MCPToolDefinition]) -> list[MCPToolDefinition]:
    """Return *tools*, each with a name of its own: what clashes gets its server in front."""
    counts = Counter(tool.remote_name for tool in tools)
    taken = set(counts)
    return [
        tool if counts[tool.remote_name] == 1 else _renamed(tool, taken)
        for tool in tools
    ]


def _renamed(tool: MCPToolDefinition, taken: set[str]) -> MCPToolDefinition:
    name = tool.remote_name
    while name in taken:  # also the longer name may be another tool's
        name = f"{tool.server}_{name}"
    taken.add(name)
    return tool.model_copy(update={"name": name})


async def _connected(session: MCPServerSession) -> None:
    with suppress(ServerError):  # kept in session.error
        await session.aconnect()


async def _all_closed(sessions: Sequence[MCPServerSession]) -> None:
    from anyio import CancelScope, create_task_group  # noqa: PLC0415 - as above

    with CancelScope(shield=True):
        async with create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(session.aclose)


def _close_all(sessions: dict[str, MCPServerSession]) -> None:
    """End the servers of a client that was forgotten; it may be the loop that finds out."""
    if open_ones := [s for s in sessions.values() if s.status not in ("new", "closed")]:
        work = (_all_closed, open_ones)
        Thread(target=portal.call, args=work, daemon=True).start()
