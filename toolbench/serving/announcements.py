"""Notify clients that the list of tools has changed."""

import asyncio
from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


class _Bus(InMemorySubscriptionBus):
    """Notifies clients of the newer protocol, which subscribe to changes, when the tools change.

    If the tools have changed before a client subscribes, the client is notified as soon as it
    subscribes, because it may have read the list before the change.
    """

    def __init__(self) -> None:
        super().__init__()
        self._has_news = False

    async def publish(self, event: ServerEvent) -> None:
        """Notify all listeners; from now on, also notify each new listener when it subscribes."""
        self._has_news = True
        await super().publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Register *listener*, and notify it immediately if the list has changed before.

        Returns:
            A function that removes the listener.
        """
        unsubscribe = super().subscribe(listener)
        if self._has_news:
            listener(ToolsListChanged())
        return unsubscribe


class Announcements:
    """The connected clients, to be notified when the list of tools changes.

    All methods run in the event loop of the server.
    """

    def __init__(self) -> None:
        """Create an empty collection of clients."""
        self._bus = _Bus()
        self.listen = ListenHandler(self._bus)
        """The handler of `subscriptions/listen` in the newer protocol."""
        self._sessions: dict[str, ServerSession] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_due = False

    def add(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """Remember the client that sent the request of *ctx*, to notify it of changes.

        The client is removed when it disconnects. Clients of the newer protocol (MCP 2026-07-28)
        are ignored, because they subscribe to changes instead.
        """
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        connection = ctx.session._connection
        key = connection.session_id
        if key is not None and key not in self._sessions:
            self._sessions[key] = ctx.session
            connection.exit_stack.callback(self._sessions.pop, key, None)

    def tell(self) -> None:
        """Notify all clients; if called again in the meantime, notify them once more."""
        self._is_due = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        try:
            while self._is_due:
                self._is_due = False
                await self._bus.publish(ToolsListChanged())
                for session in list(self._sessions.values()):
                    await session.send_tool_list_changed()
        finally:
            self._task = None

    def close(self) -> None:
        """End the `subscriptions/listen` requests of all clients."""
        self.listen.close()
