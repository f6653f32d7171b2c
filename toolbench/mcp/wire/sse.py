"""The older transport to a server with a URL: a stream of events, and a POST for each message.

The SDK's own SSE transport ends when the server refuses a message. This transport goes on. Its
messages are repaired as those of a process are: see `messages.mend`.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import anyio.abc
import httpx2
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared._httpx_utils import request_within_origin, sse_within_origin
from mcp.shared.message import SessionMessage

from toolbench.errors import ServerError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import HttpFailure
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.http import failure_in, http_client, media_type
from toolbench.mcp.wire.messages import mend, message_in, written
from toolbench.network import MOST_BYTES

# Messages of a stream that are not read yet
_WAITING = 100


@dataclass
class SseTransport(ClientTransport):
    """A transport over SSE, for one session with the server of a configuration entry."""

    entry: ServerEntry
    inbox: Inbox
    ended: bool = False
    """Whether the server's stream has ended."""

    legacy_only = True

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Open the stream and yield its session; close both afterwards."""
        make = (transport_options or TransportOptions()).session_class
        sender, incoming = anyio.create_memory_object_stream[SessionMessage](_WAITING)
        async with (
            http_client(self.entry, self.inbox) as client,
            sse_within_origin(client, self.entry.url, max_event_size=MOST_BYTES) as source,
            sender,
            incoming,
            anyio.create_task_group() as tasks,
        ):
            await self._check(source.response)
            stream = aiter(source)
            posts = _Posts(client, self._endpoint(await _first(stream)), self.inbox, sender, tasks)
            tasks.start_soon(self._receive, stream, sender)
            async with make(incoming, posts, **session_kwargs) as session:
                yield session
            tasks.cancel_scope.cancel()

    async def _check(self, response: httpx2.Response) -> None:
        """Note a failure in *response*, and raise an error if the status is an error."""
        self.inbox.note_http_failure(await failure_in(response, self.inbox.redactor))
        response.raise_for_status()

    def _endpoint(self, event: Any) -> str:
        """Return the URL for messages, which the first event of the stream names."""
        if event is None or event.event != "endpoint":
            msg = "the server's stream does not begin with the URL for messages"
            raise ServerError(msg)
        try:
            url = urljoin(self.entry.url, str(event.data))
            is_same = urlsplit(url)[:2] == urlsplit(self.entry.url)[:2]
        except ValueError:
            is_same = False
        # It would get the headers and tokens of this server
        if not is_same:
            msg = "the server wants its messages sent to another server, which was not done"
            raise ServerError(msg)
        return url

    async def _receive(self, stream: AsyncIterator[Any], sender: Any) -> None:
        """Pass the messages of the *stream* on until it ends."""
        async with sender:
            with suppress(httpx2.HTTPError, httpx2.SSEError, httpx2.StreamError):
                async for event in stream:
                    if event.event == "message" and event.data:
                        await self._pass(event.data, sender)
            self.ended = True

    async def _pass(self, data: str, sender: Any) -> None:
        try:
            await sender.send(SessionMessage(message_in(data)))
        except ValueError:
            # An answer that is refused as it is would leave its call without an answer
            try:
                for message in mend(data.encode()):
                    await sender.send(SessionMessage(message_in(json.dumps(message))))
            except ValueError:
                self.inbox.note_noise(data)


async def _first(stream: AsyncIterator[Any]) -> Any:
    with suppress(StopAsyncIteration):
        return await anext(stream)
    return None


@dataclass
class _Posts:
    """Sends messages. If the server refuses a request, an error takes the place of its answer."""

    client: httpx2.AsyncClient
    url: str
    inbox: Inbox
    sender: Any
    tasks: anyio.abc.TaskGroup

    async def __aenter__(self) -> "_Posts":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Do nothing: the transport closes the client."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""
        if getattr(item.message, "method", "") == "notifications/cancelled":
            # a server that does not answer must not delay the end of the call
            self.tasks.start_soon(self._post, item)
        else:
            await self._post(item)

    async def _post(self, item: SessionMessage) -> None:
        try:
            response = await request_within_origin(
                self.client,
                "POST",
                self.url,
                content=written(item).text,
                headers={"content-type": "application/json"},
            )
        except httpx2.HTTPError as error:
            problem = f"The request was not sent: {str(error) or type(error).__name__}"
        else:
            problem = await self._refusal(response)
        if problem and isinstance(item.message, mcp_types.JSONRPCRequest):
            code = mcp_types.INTERNAL_ERROR
            answer = mcp_types.JSONRPCError(
                jsonrpc="2.0",
                id=item.message.id,
                error=mcp_types.ErrorData(code=code, message=problem),
            )
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self.sender.send(SessionMessage(answer))

    async def _refusal(self, response: httpx2.Response) -> str:
        """Return the reason why the server refused a message; empty if the server accepted it.

        The message was accepted if the status is below 300 and the body is not HTML.
        """
        failure = None
        if response.status_code >= 300 or media_type(response) == "text/html":
            failure = await failure_in(response, self.inbox.redactor) or HttpFailure(
                response.status_code, response.reason_phrase, ""
            )
        self.inbox.note_http_failure(failure)
        return "" if failure is None else str(failure)
