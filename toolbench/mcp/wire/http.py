"""The transport to a server with a URL: streamable HTTP, with any size of results."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from toolbench.mcp.authorization.refusals import refusal
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import HttpFailure
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.auth import auth_of
from toolbench.mcp.wire.lenient_http import LONGEST_EVENT, mend_response
from toolbench.redaction.redactor import Redactor

_KEPT_BODY = 500  # characters kept of a body that is not a message


@dataclass
class HttpTransport(ClientTransport):
    """A transport over streamable HTTP to one entry, for one session."""

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
                self.entry.url, http_client=client, max_sse_event_size=LONGEST_EVENT
            ) as (incoming, outgoing),
            make(incoming, outgoing, **session_kwargs) as session,
        ):
            yield session


def http_client(
    entry: ServerEntry, inbox: Inbox, **settings: Any
) -> httpx2.AsyncClient:
    """Return an HTTP client with the headers and auth of *entry*; failures go to *inbox*.

    A call has its own time limit, so reading has none here.
    """
    # texts, because comparing URL objects parses them again
    endpoints = {str(httpx2.URL(entry.url))}

    async def look(response: httpx2.Response) -> None:
        request = response.request
        if request.method == "POST" and str(request.url) in endpoints:
            if response.has_redirect_location:
                place = response.headers["location"]
                endpoints.add(str(request.url.join(place)))
            inbox.note_http_failure(await _failure(response, inbox.redactor))
            if response.status_code < 300:
                await mend_response(response, _kind(response))

    settings = {"timeout": httpx2.Timeout(30.0, read=None), **settings}
    settings["headers"] = {**entry.headers, **(settings.get("headers") or {})}
    client = httpx2.AsyncClient(
        auth=settings.pop("auth", None) or auth_of(entry, inbox), **settings
    )
    client.event_hooks["response"].append(look)
    return client


async def _failure(response: httpx2.Response, redactor: Redactor) -> HttpFailure | None:
    """Return the failure in *response*, an error status or a page for people; else None."""
    if response.status_code < 400 and _kind(response) not in (
        "text/html",
        "text/plain",
    ):
        return None
    body, answer = "", None
    try:
        await response.aread()
        body, answer = response.text, _error_in(response.content)
    except httpx2.HTTPError:  # then only the status is known
        pass
    return HttpFailure(
        status=response.status_code,
        reason=response.reason_phrase,
        body=redactor.text(body if answer is None else answer)[:_KEPT_BODY],
        is_answer=answer is not None,
        hint=refusal(
            response.status_code, response.request.headers, response.headers, body
        ),
    )


def _error_in(body: bytes) -> str | None:
    """Return the message of the MCP error that *body* is; None if it is none."""
    try:
        message = mcp_types.jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return None
    if not isinstance(message, mcp_types.JSONRPCError):
        return None
    return message.error.message


def _kind(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()
