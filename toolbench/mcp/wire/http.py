"""The transports to servers with a URL: streamable HTTP, and the older SSE."""

import logging
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import anyio.abc
import httpx2
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import request_within_origin, sse_within_origin
from mcp.shared.message import SessionMessage

from toolbench.errors import BodyError, ServerError
from toolbench.mcp.authorization.refusals import refusal
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import HttpFailure
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.auth import auth_of
from toolbench.mcp.wire.messages import mended, message_in, written
from toolbench.network import MOST_BYTES, limit_answer
from toolbench.redaction.redactor import Redactor

# The most characters that are kept of a body that is not a message
_KEPT_BODY = 500
_PLAIN_TEXT = (
    "Its Content-Type is text/plain, and an MCP endpoint answers with application/json or "
    "text/event-stream: check the URL, or the server"
)


def _is_news(record: logging.LogRecord) -> bool:
    # The SDK logs a traceback for each unreadable answer, although the call also gets the error
    return not str(record.msg).startswith("Error parsing ")


logging.getLogger("mcp.client.streamable_http").addFilter(_is_news)


@dataclass
class HttpTransport(ClientTransport):
    """A transport over streamable HTTP for one session with the server of *entry*."""

    entry: ServerEntry
    inbox: Inbox

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Open the connection and yield its session; close both afterwards."""
        make = (transport_options or TransportOptions()).session_class
        async with (
            http_client(self.entry, self.inbox) as client,
            streamable_http_client(
                self.entry.url, http_client=client, max_sse_event_size=MOST_BYTES
            ) as (incoming, outgoing),
            make(incoming, outgoing, **session_kwargs) as session,
        ):
            yield session


def http_client(entry: ServerEntry, inbox: Inbox, **settings: Any) -> httpx2.AsyncClient:
    """Return an HTTP client that sends the headers and the auth of *entry*.

    HTTP failures are reported to *inbox*. The client has no time limit for reading an answer,
    because each call has its own limit.
    """
    # Strings, because comparing URL objects parses them again
    endpoints = {str(httpx2.URL(entry.url))}

    async def look(response: httpx2.Response) -> None:
        request = response.request
        is_stream = response.is_success and media_type(response) == "text/event-stream"
        limit_answer(response, is_stream=is_stream)
        if request.method == "GET" and is_stream:
            response.stream = _Notifications(response.stream)
        elif request.method == "POST" and str(request.url) in endpoints:
            inbox.http_answer = response.status_code, media_type(response)
            response.stream = _Answer(response.stream)
            if response.has_redirect_location:
                place = response.headers["location"]
                endpoints.add(str(request.url.join(place)))
            inbox.note_http_failure(await failure_in(response, inbox.redactor))

    settings = {"timeout": httpx2.Timeout(30.0, read=None), **settings}
    settings["headers"] = {**entry.headers, **(settings.get("headers") or {})}
    client = httpx2.AsyncClient(
        auth=settings.pop("auth", None) or auth_of(entry, inbox),
        verify=certificates(),
        **settings,
    )
    client.event_hooks["response"].append(look)
    return client


class _Answer(httpx2.AsyncByteStream):
    """The body of an answer; if it is too long, only this answer is an error."""

    def __init__(self, received: Any) -> None:
        self._received = received

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._received:
                yield piece
        except BodyError as error:
            # A StreamError ends only the call in the SDK, but any other error ends the connection
            raise httpx2.StreamError(str(error)) from error

    async def aclose(self) -> None:
        await self._received.aclose()


class _Notifications(httpx2.AsyncByteStream):
    """A stream of notifications that ends without an error.

    The SDK opens the stream again after its end, but not after two errors.
    """

    def __init__(self, received: Any) -> None:
        self._received = received

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with suppress(httpx2.HTTPError):
            async for piece in self._received:
                yield piece

    async def aclose(self) -> None:
        await self._received.aclose()


def certificates() -> ssl.SSLContext:
    """Return the TLS context for all HTTP clients. It is the same as the default of httpx2.

    The context is shared because loading the certificates of the trusted authorities takes half the
    time of connecting. A new context is created if `SSL_CERT_FILE`, `SSL_CERT_DIR`, or the file
    with the certificates changes.
    """
    file = os.environ.get("SSL_CERT_FILE")
    try:
        place = file or ssl.get_default_verify_paths().openssl_cafile
        changed = os.stat(place).st_mtime_ns  # noqa: PTH116 - a missing file is no error here
    except OSError:
        changed = None
    return _certificates_of(file, os.environ.get("SSL_CERT_DIR"), changed)


@lru_cache(maxsize=1)
def _certificates_of(*_place_and_age: object) -> ssl.SSLContext:
    return httpx2.create_ssl_context()


async def failure_in(response: httpx2.Response, redactor: Redactor) -> HttpFailure | None:
    """Return the failure that *response* reports, or None if *response* is not a failure.

    A response is a failure if it has an error status, or if its body is HTML or plain text. MCP
    messages are never HTML or plain text.
    """
    if response.status_code < 400 and media_type(response) not in (
        "text/html",
        "text/plain",
    ):
        return None
    body, answer = "", None
    try:
        await response.aread()
        body, answer = response.text, _error_in(response.content)
    except (BodyError, httpx2.StreamError) as error:
        # Too long
        body = str(error)
    except httpx2.HTTPError:
        # Then only the status is known
        pass
    hint = refusal(response.status_code, response.request.headers, response.headers, body)
    if response.status_code < 400 and media_type(response) == "text/plain":
        hint = _PLAIN_TEXT
    return HttpFailure(
        status=response.status_code,
        reason=response.reason_phrase,
        body=redactor.text(body if answer is None else answer)[:_KEPT_BODY],
        is_answer=answer is not None,
        hint=hint,
    )


def _error_in(body: bytes) -> str | None:
    """Return the message of the MCP error in *body*; None if *body* is not an MCP error."""
    try:
        message = message_in(body)
    except ValueError:
        return None
    if not isinstance(message, mcp_types.JSONRPCError):
        return None
    return message.error.message


def media_type(response: httpx2.Response) -> str:
    """Return the media type of *response* in lower case, without parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


# --- the older transport -----------------------------------------------------------------

# The most messages of a stream that wait to be read
_WAITING = 100


@dataclass
class SseTransport(ClientTransport):
    """The older HTTP transport: messages arrive in a stream of SSE events, and are sent by POST.

    The SDK's transport of this kind ends when the server refuses a message, but this transport
    continues. It also repairs invalid messages by `messages.mended`.
    """

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
        """Return the URL for sending messages, which the first event of the stream names."""
        if event is None or event.event != "endpoint":
            msg = "the server's stream does not begin with the URL for messages"
            raise ServerError(msg)
        try:
            url = urljoin(self.entry.url, str(event.data))
            is_same = urlsplit(url)[:2] == urlsplit(self.entry.url)[:2]
        except ValueError:
            is_same = False
        # Another origin would get the headers and tokens of this server
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
            # If an answer were refused, its call would wait without an answer
            try:
                for message in mended(data.encode()):
                    await sender.send(SessionMessage(message))
            except ValueError:
                self.inbox.note_noise(data)


async def _first(stream: AsyncIterator[Any]) -> Any:
    with suppress(StopAsyncIteration):
        return await anext(stream)
    return None


@dataclass
class _Posts:
    """Sends messages; if the server refuses a request, an error replaces the answer."""

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
            # A server that does not answer must not delay the end of the call
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

        The server accepted the message if the status of *response* is below 300 and the body is not
        HTML.
        """
        failure = None
        if response.status_code >= 300 or media_type(response) == "text/html":
            failure = await failure_in(response, self.inbox.redactor) or HttpFailure(
                response.status_code, response.reason_phrase, ""
            )
        self.inbox.note_http_failure(failure)
        return "" if failure is None else str(failure)
