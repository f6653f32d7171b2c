"""A server behind a URL: streamable HTTP, with failures kept and results of any size."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from toolbench.mcp.calls import HttpFailure
from toolbench.mcp.entries import ServerEntry
from toolbench.mcp.framing import NoiseError, mend
from toolbench.mcp.inbox import Inbox
from toolbench.mcp.wire.auth import auth_of

_KEPT_BODY = 500  # characters of a body that is no message
_DEEPEST = 150  # levels of objects and lists; the SDK's reader gives up at 200
_LONGEST_EVENT = 256 * 1024 * 1024  # bytes of one result in an event stream


@dataclass
class HttpTransport(ClientTransport):
    """Speaks streamable HTTP to one entry, for the time of one session."""

    entry: ServerEntry
    inbox: Inbox

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Open the connection and yield the session with it; close both afterwards."""
        make = (transport_options or TransportOptions()).session_class
        async with (
            http_client(self.entry, self.inbox) as client,
            streamable_http_client(
                self.entry.url, http_client=client, max_sse_event_size=_LONGEST_EVENT
            ) as (incoming, outgoing),
            make(incoming, outgoing, **session_kwargs) as session,
        ):
            yield session


def http_client(
    entry: ServerEntry, inbox: Inbox, **settings: Any
) -> httpx2.AsyncClient:
    """Return the client for *entry*: its headers, its auth, failures told to *inbox*.

    A call has its own time limit, so reading has none here.
    """
    endpoint = str(httpx2.URL(entry.url))  # to compare URLs is to read them anew

    async def look(response: httpx2.Response) -> None:
        asked = response.request
        if asked.method == "POST" and str(asked.url) == endpoint:
            inbox.note_http_failure(await _failure(response))
            if response.status_code < 300:
                await _mend_body(response)

    settings = {"timeout": httpx2.Timeout(30.0, read=None), **settings}
    settings["headers"] = {**entry.headers, **(settings.get("headers") or {})}
    client = httpx2.AsyncClient(
        auth=settings.pop("auth", None) or auth_of(entry), **settings
    )
    client.event_hooks["response"].append(look)
    return client


async def _failure(response: httpx2.Response) -> HttpFailure | None:
    """What an answer says that is no message: an error status, a page for people."""
    if response.status_code < 400 and _kind(response) not in (
        "text/html",
        "text/plain",
    ):
        return None
    body = ""
    try:
        await response.aread()
        body = response.text[:_KEPT_BODY]
    except httpx2.HTTPError:  # the status alone, then
        pass
    return HttpFailure(
        status=response.status_code,
        reason=response.reason_phrase,
        body=body,
        challenge=response.headers.get("www-authenticate", ""),
    )


def _kind(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


async def _mend_body(response: httpx2.Response) -> None:
    """Put the message that was meant in place of one that the SDK would refuse as a whole."""
    received: Any = response.stream
    if "content-encoding" in response.headers:  # compressed: the SDK's own affair
        return
    body = b"".join([chunk async for chunk in received])
    await received.aclose()
    response.stream = httpx2.ByteStream(_mended(body))


def _mended(body: bytes) -> bytes:
    read = mcp_types.jsonrpc_message_adapter
    try:
        read.validate_json(body, by_name=False)
    except ValueError:
        try:
            answers = [each for each in mend(body) if "method" not in each]
        except NoiseError:  # the SDK has words for it
            return body
        return json.dumps(_pruned(answers[0], _DEEPEST)).encode() if answers else body
    return body


def _pruned(value: Any, levels: int) -> Any:
    """Return *value* as deep as a strict reader goes: one deep tool hides no other."""
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return "nested too deeply to be read"
    if isinstance(value, list):
        return [_pruned(item, levels - 1) for item in value]
    return {key: _pruned(item, levels - 1) for key, item in value.items()}
