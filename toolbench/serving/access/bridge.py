"""`toolbench connect NAME`: connect a client's stdio to the HTTP server of a notebook."""

import os
import sys
from collections.abc import Mapping
from threading import Thread
from time import sleep
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import encode_header_value
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY

from toolbench.errors import ServerError
from toolbench.serving.access.connection_file import ConnectionFile, connections, gone

# Seconds between two checks that the server still runs
_LOOK = 1.0
# The most bytes of one result
_LARGEST = 256 * 1024 * 1024


def connect(name: str) -> None:
    """Pass messages between stdio and the server *name* until the client or the server ends.

    When the server ends, the whole process exits. This is necessary because the thread that reads
    stdin cannot be cancelled.

    Raises:
        ServerError: If there is no server called *name*, or the server has ended.
    """
    connection, *others = connections(name)
    if others:
        _say(
            f"{len(others) + 1} servers are called {name!r}: this is the one that began last, of "
            f"process {connection.process}. Give each its own name: serve(tools, name=...)."
        )
    Thread(target=_end_with, args=(connection,), daemon=True).start()
    try:
        anyio.run(_pass_on, connection)
    except* (httpx2.TransportError, ConnectionError):
        raise ServerError(gone(name)) from None


def _say(text: str) -> None:
    sys.stderr.write(f"toolbench connect: {text}\n")
    sys.stderr.flush()


def _end_with(connection: ConnectionFile) -> None:
    """Exit when the server of *connection* has ended, even if the client sends nothing."""
    while connection.is_current:
        sleep(_LOOK)
    # First let running requests report the end
    sleep(_LOOK)
    _say(gone(connection.name))
    os._exit(1)


async def _pass_on(connection: ConnectionFile) -> None:
    async with (
        httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {connection.token}"},
            timeout=httpx2.Timeout(30.0, read=None),
            # The server is on this machine: use no proxy
            trust_env=False,
        ) as client,
        streamable_http_client(connection.url, http_client=client, max_sse_event_size=_LARGEST) as (
            from_server,
            to_server,
        ),
        stdio_server() as (from_client, to_client),
        anyio.create_task_group() as both,
    ):

        async def answer() -> None:
            async for message in from_server:
                if isinstance(message, SessionMessage):
                    await to_client.send(message)
                else:
                    _say(str(message))
            both.cancel_scope.cancel()

        both.start_soon(answer)
        async for message in from_client:
            if isinstance(message, SessionMessage):
                await to_server.send(_with_headers(message))
        both.cancel_scope.cancel()
        # Otherwise the task that writes to stdio would wait for more messages
        to_client.close()


def _with_headers(message: SessionMessage) -> SessionMessage:
    """Return *message* with the headers that the newer protocol requires over HTTP."""
    body: Any = message.message
    params = getattr(body, "params", None)
    if isinstance(params, Mapping):
        meta = params.get("_meta")
    else:
        meta = None
    if isinstance(meta, Mapping):
        version = meta.get(PROTOCOL_VERSION_META_KEY)
    else:
        version = None
    if not isinstance(version, str):
        return message
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": body.method}
    name = (params or {}).get("name") or (params or {}).get("uri")
    if isinstance(name, str):
        headers["Mcp-Name"] = encode_header_value(name)
    return SessionMessage(body, metadata=ClientMessageMetadata(headers=headers))
