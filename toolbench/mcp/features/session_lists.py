"""Keep the lists of a session up to date: tools at once, other lists at their next use."""

from collections.abc import Callable, Sequence
from typing import Any

from toolbench.core.tool import hooks
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.lists.remote_list import RemoteList
from toolbench.mcp.lists.tools import ToolList
from toolbench.mcp.monitoring.notifications import Inbox


class SessionLists:
    """The lists of one session; all methods run in the background loop."""

    def __init__(
        self,
        connection: ReconnectingConnection,
        inbox: Inbox,
        tools: ToolList,
        others: Sequence[RemoteList[Any]],
        *,
        seconds: float,
        on_tools: Callable[[], object],
    ) -> None:
        """Keep *tools* and *others* up to date.

        Args:
            connection: The connection to the server.
            inbox: Receives the server's notifications of changes, and announces changes.
            tools: The tools.
            others: The lists that are requested at their next use.
            seconds: The time limit of a list.
            on_tools: Called after each listing of the tools.
        """
        self._connection, self._inbox, self._seconds = connection, inbox, seconds
        self._tools, self._others, self._on_tools = tools, others, on_tools
        inbox.on_list_changed = self.note_change
        tools.on_stale = self.renew_tools

    async def refresh(self) -> None:
        """List the tools again now; the other lists are requested again at their next use."""
        await self._connection.twice(self.list_anew)

    async def list_anew(self, connection: Connection, *, used: float = 0.0) -> None:
        """List the tools over *connection*; the other lists are requested again at their next use.

        The seconds in *used* of the time limit are over.
        """
        for each in self._others:
            each.forget()
        await self._list_tools(connection, used=used)

    async def _list_tools(self, connection: Connection, *, used: float = 0.0) -> None:
        before = self._tools.last_change
        await self._tools.list_anew(connection, self._seconds, used=used)
        self._on_tools()
        if self._tools.last_change is not before:
            hooks.listings.changed()
        self._inbox.changes.note("tools")

    def note_change(self, name: str) -> None:
        """Handle the server's notification that the list *name* changed."""
        self._inbox.changes.note(name)
        for each in self._others:
            if each.key == name:
                each.forget()
        if name == "tools":
            self._connection.soon(self._follow)

    def renew_tools(self) -> None:
        """List the tools again soon, because their `ttlMs` is over; any thread may call this."""
        self._connection.renew(self._follow)

    async def _follow(self) -> None:
        """List the tools again, if the session is still connected."""
        if self._connection.status == "connected":
            await self._connection.once(self._list_tools)
