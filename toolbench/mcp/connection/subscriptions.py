"""Subscribe to changes of a server's lists and of single resources."""

import asyncio
from typing import TYPE_CHECKING, Any

from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.errors import sentence

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

_LISTS = ("tools", "prompts", "resources")
# Seconds before a stream that ended is opened again; they double after each further end
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class Subscriptions:
    """The subscriptions of one session to changes of resources and lists.

    In the older protocol (MCP 2025-11-25 and before), the client subscribes to each resource by a
    separate request. Changes of lists are reported without a subscription. In the newer protocol,
    the server reports changes of resources and lists in one stream, which stays open. The
    coroutines must run in the background loop.
    """

    def __init__(self, session: "MCPServerSession", seconds: float) -> None:
        """Prepare subscriptions at the server of *session*, with *seconds* for each request."""
        self._session = session
        self._connection = session.connection
        self._seconds = seconds
        self._stream: asyncio.Task[None] | None = None
        self.uris: list[str] = []
        """The resources to which this client is subscribed."""
        self.lost: dict[str, str] = {}
        """Resources whose subscription was refused on a new connection, each with the reason."""
        self.updated: list[str] = []
        """The resources that have changed, without repeats, in the order of their first change."""
        self.interruption = ""
        """Why no updates arrive now, if the stream of the newer protocol ended; else empty."""

    def note(self, uri: str) -> None:
        """Remember that the resource *uri* has changed."""
        if uri not in self.updated:
            self.updated.append(uri)
        self._connection.inbox.changes.note("resources")

    async def follow(self, connection: Connection) -> None:
        """Renew the subscriptions on a new connection.

        In the older protocol, resources that the server refuses are moved to `lost`.
        """
        self.stop()
        self.lost.clear()
        self.interruption = ""
        if connection.is_modern:
            self._listen(connection)
            return
        for uri in list(self.uris):
            call = Call(seconds=self._seconds, used=self._connection.seconds_used)
            try:
                await connection.request("resources/subscribe", {"uri": uri}, call)
            except Exception as error:
                # A refused resource must not end the connection
                if not connection.is_alive:
                    raise
                self.uris.remove(uri)
                self.lost[uri] = self._connection.inbox.safe_text(sentence(error, call=call))

    async def add(self, uri: str) -> None:
        """Subscribe to the resource *uri*."""
        connection = await self._connection.live()
        if uri not in self.uris:
            if not connection.is_modern:
                verb = f"subscribe us to {uri!r}"
                call = Call(seconds=self._seconds)
                await self._connection.request("resources/subscribe", {"uri": uri}, call, verb=verb)
            self.uris.append(uri)
            self.lost.pop(uri, None)
            self._listen_anew(connection)

    async def remove(self, uri: str) -> None:
        """Unsubscribe from the resource *uri*."""
        self.lost.pop(uri, None)
        if uri in self.uris:
            # First, so that a new connection does not subscribe to it
            self.uris.remove(uri)
            connection = await self._connection.live()
            if not connection.is_modern:
                verb = f"unsubscribe us from {uri!r}"
                call = Call(seconds=self._seconds)
                await self._connection.request(
                    "resources/unsubscribe", {"uri": uri}, call, verb=verb
                )
            self._listen_anew(connection)

    def stop(self) -> None:
        """Close the stream of the newer protocol, if it is open."""
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None

    def _listen_anew(self, connection: Connection) -> None:
        if connection.is_modern:
            self.stop()
            self._listen(connection)

    def _listen(self, connection: Connection) -> None:
        capabilities = connection.described().get("capabilities", {})
        filters: dict[str, Any] = {
            f"{name}_list_changed": True
            for name in _LISTS
            if (capabilities.get(name) or {}).get("listChanged")
        }
        if self.uris:
            filters["resource_subscriptions"] = list(self.uris)
        if filters:
            self._stream = asyncio.ensure_future(self._keep_open(connection, filters))

    async def _keep_open(self, connection: Connection, filters: dict[str, Any]) -> None:
        """Keep the stream of notifications open until this task is cancelled.

        If the stream ends, for example because a proxy closed it, it is opened again after a pause.
        The inbox receives the notifications.
        """
        from mcp import MCPError  # noqa: PLC0415 - loaded by now
        from mcp.client.subscriptions import (  # noqa: PLC0415 - the same
            SubscriptionLost,
            listen,
        )

        loop = asyncio.get_running_loop()
        pause, was_open = _FIRST_PAUSE, False
        while connection.is_alive:
            begun = loop.time()
            try:
                async with listen(connection.session, **filters) as subscription:
                    if not any(subscription.honored.model_dump().values()):
                        # The server accepts the request, but sends no updates
                        return
                    self._note_open(filters, is_first=not was_open)
                    was_open = True
                    async for _ in subscription:
                        pass
                why = "the server ended their stream"
            except SubscriptionLost:
                why = "their stream was cut"
            except (MCPError, TimeoutError) as error:
                why = sentence(error)
            # Many servers declare the capability, but refuse the request. A replay has only one
            # stream
            if not was_open or self._connection.entry.transport == "replay":
                return
            if loop.time() - begun > _LONGEST_PAUSE:
                pause = _FIRST_PAUSE
            self._interrupt(self._connection.inbox.safe_text(why))
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _note_open(self, filters: dict[str, Any], *, is_first: bool) -> None:
        self._interrupt("")
        if is_first:
            return
        # The lists may have changed meanwhile
        for name in _LISTS:
            if filters.get(f"{name}_list_changed"):
                self._session.list_changed(name)

    def _interrupt(self, why: str) -> None:
        self.interruption = why
        self._connection.inbox.changes.note("status")
