"""Ask a server for news: of its lists, and of single resources."""

import asyncio
from contextlib import suppress
from typing import Any, Literal

from toolbench.mcp.connection.connection import Connection, Send
from toolbench.mcp.connection.failure_messages import sentence
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection

_LISTS = ("tools", "prompts", "resources")


class Subscriptions:
    """What one server is asked to tell of; its coroutines run in the background loop.

    The older protocol has a request for each resource, and tells of lists unasked. The newer
    one has a stream that is held open, for all of it.
    """

    def __init__(self, connection: ReconnectingConnection, seconds: float) -> None:
        """Ask over *connection*, *seconds* at most each time."""
        self._connection = connection
        self._seconds = seconds
        self._stream: asyncio.Task[None] | None = None
        self.uris: list[str] = []
        """The resources we asked to hear of."""
        self.lost: dict[str, str] = {}
        """Those a new connection tells nothing of, each with its reason."""
        self.updated: list[str] = []
        """Those we heard of, in that order, each once."""

    def note(self, uri: str) -> None:
        """Remember that the resource *uri* changed."""
        if uri not in self.updated:
            self.updated.append(uri)
        self._connection.inbox.changes.note("resources")

    async def follow(self, connection: Connection) -> None:
        """Ask a new connection for all there is to hear of; what it refuses is lost."""
        self.stop()
        self.lost.clear()
        if connection.is_modern:
            self._listen(connection)
            return
        for uri in list(self.uris):
            call = Call(seconds=self._seconds)
            try:
                await connection.ask(_request("subscribe", uri), call)
            except (
                Exception
            ) as error:  # one resource less is no reason for no connection
                if not connection.is_alive:
                    raise
                self.uris.remove(uri)
                self.lost[uri] = self._connection.inbox.told(sentence(error, call=call))

    async def add(self, uri: str) -> None:
        """Ask for news of the resource *uri*."""
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
        """Ask for no more news of the resource *uri*."""
        self.lost.pop(uri, None)
        if uri in self.uris:
            self.uris.remove(uri)  # first: no new connection shall ask for it
            connection = await self._connection.live()
            if not connection.is_modern:
                verb = f"unsubscribe us from {uri!r}"
                request = _request("unsubscribe", uri)
                await self._connection.ask_to(verb, request, self._seconds)
            self._listen_anew(connection)

    def stop(self) -> None:
        """Hold no stream open."""
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
    """What the older protocol has for asking for news of *uri*, or for no more of it."""
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
    """Keep the stream open until this task is cancelled; the news goes to the inbox."""
    from mcp import MCPError  # noqa: PLC0415 - loaded by now
    from mcp.client.subscriptions import (  # noqa: PLC0415 - the same
        SubscriptionLost,
        listen,
    )

    # many servers claim the capability and do not know the request: then there is no news
    with suppress(MCPError, SubscriptionLost):
        async with listen(connection.session, **filters) as subscription:
            async for _ in subscription:
                pass
