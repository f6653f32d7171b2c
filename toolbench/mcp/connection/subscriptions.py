"""Subscribe to changes of a server's lists and of single resources."""

import asyncio
from contextlib import suppress
from typing import Any, Literal

from toolbench.mcp.connection.connection import Connection, Send
from toolbench.mcp.connection.failure_messages import sentence
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection

_LISTS = ("tools", "prompts", "resources")


class Subscriptions:
    """The subscriptions at one server. Its coroutines run in the background loop.

    The older protocol needs a request for each resource, and reports lists without a request. The
    newer protocol has one open stream for resources and lists.
    """

    def __init__(self, connection: ReconnectingConnection, seconds: float) -> None:
        """Subscribe over *connection*, with *seconds* for each request."""
        self._connection = connection
        self._seconds = seconds
        self._stream: asyncio.Task[None] | None = None
        self.uris: list[str] = []
        """The resources to which this client is subscribed."""
        self.lost: dict[str, str] = {}
        """Resources whose subscription was refused on a new connection, each with the reason."""
        self.updated: list[str] = []
        """Resources that changed, each once, in the order of their first change."""

    def note(self, uri: str) -> None:
        """Remember that the resource *uri* changed."""
        if uri not in self.updated:
            self.updated.append(uri)
        self._connection.inbox.changes.note("resources")

    async def follow(self, connection: Connection) -> None:
        """Subscribe again on a new connection.

        In the older protocol, resources that the server refuses are put in `lost`.
        """
        self.stop()
        self.lost.clear()
        if connection.is_modern:
            self._listen(connection)
            return
        for uri in list(self.uris):
            call = Call(seconds=self._seconds)
            try:
                await connection.ask(_request("subscribe", uri), call)
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
                request = _request("subscribe", uri)
                await self._connection.ask_to(verb, request, self._seconds)
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
                request = _request("unsubscribe", uri)
                await self._connection.ask_to(verb, request, self._seconds)
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
            self._stream = asyncio.ensure_future(_held_open(connection, filters))


def _request(verb: Literal["subscribe", "unsubscribe"], uri: str) -> Send:
    """Return the request of the older protocol that subscribes to *uri*, or unsubscribes."""
    from mcp_types import (  # noqa: PLC0415 - loaded by now
        EmptyResult,
        SubscribeRequest,
        SubscribeRequestParams,
        UnsubscribeRequest,
        UnsubscribeRequestParams,
    )

    request = (
        SubscribeRequest(params=SubscribeRequestParams(uri=uri))
        if verb == "subscribe"
        else UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
    )
    return lambda session, *_: session.send_request(request, EmptyResult)


async def _held_open(connection: Connection, filters: dict[str, Any]) -> None:
    """Keep the stream open until this task is cancelled; notifications go to the inbox."""
    from mcp import MCPError  # noqa: PLC0415 - loaded by now
    from mcp.client.subscriptions import (  # noqa: PLC0415 - the same
        SubscriptionLost,
        listen,
    )

    # many servers declare the capability but refuse the request: then there are no updates
    with suppress(MCPError, SubscriptionLost):
        async with listen(connection.session, **filters) as subscription:
            async for _ in subscription:
                pass
