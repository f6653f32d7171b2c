"""A web server in a separate thread with its own event loop, reachable only on this machine."""

import asyncio
import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any

import uvicorn

from toolbench.errors import ServerError
from toolbench.http_limits import Headers, limit_connections
from toolbench.threads import leave_behind_in_forks

HOST = "127.0.0.1"
_STARTING_SECONDS = 30.0
_CLOSING_SECONDS = 10.0
# The time in which stopped calls can still answer
_ENDING_SECONDS = 0.5
_LOOK = 0.02
_WAITING = 2_048


class _WebServer(uvicorn.Server):
    """A web server that reports when it listens, and ends open streams before it stops."""

    started_now: Callable[[], object]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `started_now`."""
        await super().startup(sockets)
        for listening in sockets or ():
            # So many connections may wait, while few are accepted at once (`limit_connections`)
            listening.listen(_WAITING)
        self.started_now()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give running requests half a second to end, then close all connections."""
        deadline = asyncio.get_running_loop().time() + _ENDING_SECONDS
        while self.server_state.tasks and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_LOOK)
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            if transport is not None:
                transport.close()
        await super().shutdown(sockets)


class HttpThread:
    """The thread that serves one web application."""

    def __init__(self, name: str, port: int) -> None:
        """Bind the socket to *port* of this machine, and create the event loop.

        Raises:
            ServerError: If *port* is taken, or cannot be used.
        """
        # Only with IPPROTO_TCP does asyncio set TCP_NODELAY, which sends small answers at once
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            self.socket.bind((HOST, port))
        except (OSError, OverflowError) as error:
            self.socket.close()
            why = getattr(error, "strerror", None) or str(error)
            msg = f"Port {port} of {HOST} cannot be used: {why}. port=0 takes a free port."
            raise ServerError(msg) from None
        self.port: int = self.socket.getsockname()[1]
        self.loop = asyncio.new_event_loop()
        self._name = f"toolbench-serve-{name}"
        self._thread: Thread | None = None
        self._server: _WebServer | None = None
        leave_behind_in_forks(self)

    def start(self, app: Any, is_known: Callable[[Headers], bool]) -> None:
        """Start to serve *app*, an ASGI application, and return as soon as clients can connect.

        Args:
            app: The application.
            is_known: A function that receives the headers of a request, and returns whether they
                contain the token.

        Raises:
            ServerError: If the server does not start.
        """
        config = uvicorn.Config(
            app,
            host=HOST,
            port=self.port,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        limit_connections(config, is_known)
        self._server = _WebServer(config)
        is_up: Future[None] = Future()
        self._server.started_now = lambda: is_up.set_result(None)
        self._thread = Thread(target=self._serve, args=(is_up,), name=self._name, daemon=True)
        self._thread.start()
        try:
            is_up.result(_STARTING_SECONDS)
        except BaseException as error:
            # Nothing is left open, even after an interrupt
            self.close()
            if not isinstance(error, Exception):
                raise
            msg = f"The server does not start: {str(error) or type(error).__name__}."
            raise ServerError(msg) from error

    def _serve(self, is_up: "Future[None]") -> None:
        asyncio.set_event_loop(self.loop)
        try:
            assert self._server is not None  # noqa: S101 - `start` made it
            self.loop.run_until_complete(self._server.serve([self.socket]))
            if not is_up.done():
                is_up.set_exception(RuntimeError("it stopped at once"))
        except BaseException as error:  # noqa: BLE001 - `start` raises it; later there is no caller
            if not is_up.done():
                is_up.set_exception(error)
        finally:
            self._end_loop()

    def _end_loop(self) -> None:
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            ending = asyncio.gather(*tasks, return_exceptions=True)
            self.loop.run_until_complete(ending)
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        self.loop.close()
        self.socket.close()

    def call_soon(self, function: Callable[..., object], *args: Any) -> None:
        """Call `function(*args)` in the event loop, unless the loop has ended."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(function, *args)

    def leave_behind(self) -> None:
        """After a fork, close the copies of the sockets, because clients would wait for them."""
        connections = () if self._server is None else self._server.server_state.connections
        for connection in list(connections):
            transport: Any = connection.transport
            with suppress(OSError, AttributeError):
                os.close(transport.get_extra_info("socket").fileno())
        self.socket.close()

    def close(self) -> None:
        """Stop serving, and wait up to ten seconds for the thread to end."""
        if self._thread is None:
            self.socket.close()
            self.loop.close()
            return
        if self._server is not None:
            self._server.should_exit = True
        self._thread.join(_CLOSING_SECONDS)
