"""The transport to a fake or recorded server in this process: JSON-RPC over streams."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from math import inf
from typing import Any

import anyio
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.shared.message import SessionMessage


class ServerEnd:
    """The server's end of one connection; iterate over it to receive the client's messages."""

    def __init__(self, from_client: Any, to_client: Any, hang_up: Callable[[], None]) -> None:
        """Create an end that reads one stream and writes to another; *hang_up* disconnects."""
        self._from_client = from_client
        self._to_client = to_client
        self._hang_up = hang_up
        self._loop = asyncio.get_running_loop()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the client's messages until the connection ends."""
        async for item in self._from_client:
            yield item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send *message*, a JSON-RPC message; call this only in the background loop."""
        read = mcp_types.jsonrpc_message_adapter.validate_python
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._to_client.send_nowait(SessionMessage(read(dict(message), by_name=False)))

    def send_soon(self, message: Mapping[str, Any]) -> None:
        """Send *message*; any thread may call this."""
        # The loop may have ended meanwhile
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.send, dict(message))

    def hang_up(self) -> None:
        """End the connection like a server that crashes; any thread may call this."""
        # The loop may have ended meanwhile
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._hang_up)


@dataclass
class MemoryTransport(ClientTransport):
    """A transport for one session with a server that is a coroutine function."""

    serve: Callable[[ServerEnd], Coroutine[Any, Any, None]]
    """The server, which answers one client and is cancelled when the client disconnects."""
    ended: bool = False
    """Whether the server closed the connection."""

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Yield a session with the server."""
        make = (transport_options or TransportOptions()).session_class
        to_client, incoming = anyio.create_memory_object_stream[Any](inf)
        outgoing, from_client = anyio.create_memory_object_stream[Any](inf)

        def hang_up() -> None:
            self.ended = True
            to_client.close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.serve, ServerEnd(from_client, to_client, hang_up))
            try:
                async with make(incoming, outgoing, **session_kwargs) as client:
                    yield client
            finally:
                tasks.cancel_scope.cancel()
                for stream in (to_client, incoming, outgoing, from_client):
                    stream.close()
