"""Keep one server reachable: connect, try the older protocol, connect again after a loss."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

import anyio

from toolbench.errors import ServerError, ended
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.connection import Connection, Send, SendPage
from toolbench.mcp.connection.failure_messages import (
    CONNECTION_CLOSED,
    BrokenError,
    code_of,
    root_of,
    sentence,
)
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.elicitation import Answerer
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.recording.failure import RecordedFailureError

_PAUSE = 0.2  # seconds

Status = Literal["new", "connecting", "connected", "lost", "failed", "closed"]


class ReconnectingConnection:
    """The connection to one server, made again when it was lost.

    Its coroutines run in the background loop.
    """

    def __init__(
        self,
        entry: ServerEntry,
        inbox: Inbox,
        *,
        seconds: float,
        mode: str,
        roots: list[str],
        greet: Callable[[Connection], Awaitable[None]],
    ) -> None:
        """Prepare to reach *entry*.

        Args:
            entry: The server.
            inbox: Where what it says goes.
            seconds: How long connecting may take.
            mode: `auto`, `legacy`, or a version of the protocol.
            roots: File URLs the server is told of.
            greet: What is asked first of every new connection.
        """
        self.entry = entry
        self.inbox = inbox
        self.seconds = seconds
        self.mode = mode
        """How the next connection is negotiated; what worked is remembered."""
        self.error: str | None = None
        """Why the server could not be reached, with what to do about it."""
        self._roots = roots
        self._greet = greet
        self._state: Status = "new"
        self._connection: Connection | None = None
        self._lock = anyio.Lock()
        self._later: asyncio.Future[None] | None = None
        self._call = Call(seconds=seconds)
        self._tried = Connection(entry, inbox, roots=roots)

    @property
    def status(self) -> Status:
        """How things stand now."""
        state, connection = (
            self._state,
            self._connection,
        )  # another thread may reconnect
        alive = connection is not None and connection.is_alive
        return "lost" if state == "connected" and not alive else state

    @property
    def pid(self) -> int | None:
        """The number of the server's process, if it is one of ours and is there."""
        return self.current.pid if self.status == "connected" else None

    @property
    def current(self) -> Connection:
        """The connection as it is now, be it alive or not.

        Raises:
            ServerError: If there never was one.
        """
        if self._connection is None:
            msg = f"Server {self.inbox.server!r} is not connected: {self.error or self._state}."
            raise ServerError(msg)
        return self._connection

    # --- opening and closing ------------------------------------------------------

    async def open(self, mode: str | None = None) -> None:
        """Connect, afresh if there is a connection, and remember *mode* if that works.

        Raises:
            ServerError: If the server cannot be reached; it says why and what to do.
        """
        async with self._lock:
            await self._open(mode or self.mode)

    async def close(self) -> None:
        """Disconnect; the server's process ends."""
        async with self._lock:
            if self._later is not None:
                self._later.cancel()
            await self._drop()
            self._set("closed")

    async def _open(self, mode: str) -> None:
        self._set("connecting")
        await self._drop()
        try:
            self._connection = await self._connected(mode)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told in words
            self.error = self._explained(error)
            if (recorder := self.inbox.recorder) is not None:
                recorder.failed(None, self.error, (), self.inbox.redactor)
            self._set("failed")
            raise ServerError(self.error) from None  # groups of groups, told above
        except BaseException:  # interrupted
            self._set("closed")
            raise
        self.error = None
        self._set("connected")

    async def _connected(self, mode: str) -> Connection:
        """Connect; a server that a newer protocol kills gets a new process and the older one."""
        started = anyio.current_time()
        entry = self.entry.expanded(os.environ)
        self.inbox.redact_with(entry.redactor)
        try:
            connection = await self._attempt(entry, mode, self.seconds)
        except Exception as error:  # a server may die of it
            if mode != "auto" or entry.transport != "stdio" or not _died(error):
                raise
            left = self.seconds - (anyio.current_time() - started)
            connection = await self._attempt(entry, "legacy", left)
            mode = "legacy"
        self.mode = mode
        return connection

    async def _attempt(
        self, entry: ServerEntry, mode: str, seconds: float
    ) -> Connection:
        connection = Connection(entry, self.inbox, roots=self._roots)
        self._call, self._tried = Call(seconds=seconds), connection
        try:
            await connection.open(mode, self._call)
            await self._greet(connection)
        except BaseException:  # cancelled too: no process is left behind
            with anyio.CancelScope(shield=True):
                await connection.close()
            raise
        return connection

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with anyio.CancelScope(shield=True):
                await connection.close()

    def soon(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do *work* a moment from now, once however often it is asked for until then."""
        if self._later is None or self._later.done():
            self._later = asyncio.ensure_future(self._quietly(work))

    async def _quietly(self, work: Callable[[], Awaitable[None]]) -> None:
        await anyio.sleep(_PAUSE)  # floods of notifications become one piece of work
        with suppress(ServerError):  # the status says it
            await work()

    def _set(self, state: Status) -> None:
        self._state = state
        self.inbox.changes.note("status")

    def _explained(self, error: Exception) -> str:
        name = self.inbox.server
        if isinstance(error, ServerError):  # about the entry itself
            return self.inbox.told(f"Server {name!r}: {error}")
        if isinstance(root := root_of(error), RecordedFailureError):
            return str(root)
        reason = sentence(error, call=self._call)
        if _died(error) and self._tried.exit_code is not None:
            reason = "its process ended before it had answered"
        text = f"Server {name!r} did not connect: {ended(reason)}"
        return str(self._tried.broken(text))

    # --- asking -------------------------------------------------------------------

    async def ask(self, send: Send, call: Call) -> dict[str, Any]:
        """Send a request; connect again first if the connection was lost, once.

        A request that was under way when the connection broke is not repeated: the server
        may have done half of it. One that the server refused unread, because it forgot the
        session, is.

        Raises:
            ServerError: If there is no connection and none can be had.
            Exception: Whatever the SDK raises; `failures` has words for it.
        """
        connection = await self.live()
        try:
            raw = await connection.ask(send, call)
        except Exception as error:  # some can be mended
            if _forgotten(call):
                call.http_failure = None
                if (recorder := self.inbox.recorder) is not None:
                    recorder.forgotten(call.token)
                await self._reopen(connection)
                raw = await self.current.ask(send, call)
            elif _died(error):
                raise self._death(connection) from error
            else:
                raise
        return raw

    async def ask_to(
        self, verb: str, send: Send, seconds: float, answerer: Answerer | None = None
    ) -> dict[str, Any]:
        """Ask the server to *verb*, as `ask` does, and say so if it does not.

        What it asks back meanwhile is for *answerer*, or for the session's own.

        Raises:
            ServerError: If there is no answer, or an error.
        """
        call = Call(seconds=seconds, answerer=answerer)
        try:
            return await self.ask(send, call)
        except ServerError:
            raise
        except Exception as error:  # the SDK, anyio, httpx
            reason = sentence(error, call=call)
            msg = f"Server {self.inbox.server!r} did not {verb}: {ended(reason)}"
            raise ServerError(self.inbox.told(msg)) from error

    async def pages(
        self, key: str, send: SendPage, seconds: float
    ) -> tuple[list[Any], str | None]:
        """Return all pages of a list; see `Connection.pages`.

        To list changes nothing: a server that ends before it has answered is connected again and
        asked once more.

        Raises:
            ServerError: If there is no connection, or the server ends again.
        """
        try:
            return await self._pages(key, send, seconds)
        except BrokenError:
            return await self._pages(key, send, seconds)

    async def _pages(
        self, key: str, send: SendPage, seconds: float
    ) -> tuple[list[Any], str | None]:
        connection = await self.live()
        try:
            return await connection.pages(key, send, seconds)
        except Exception as error:  # the SDK's
            if not _died(error):
                raise
            raise self._death(connection) from error

    async def live(self) -> Connection:
        """Return the connection, made again if it was lost.

        Raises:
            ServerError: If it was closed, or none can be had.
        """
        if self._state == "closed":
            msg = f"Server {self.inbox.server!r} is disconnected: reconnect it first."
            raise ServerError(msg)
        if self.status != "connected":
            await self._reopen(self._connection)
        return self.current

    async def _reopen(self, broken: Connection | None) -> None:
        """Connect again, unless another thread has done so."""
        async with self._lock:
            if self._connection is broken or self.status != "connected":
                await self._open(self.mode)

    def _death(self, connection: Connection) -> BrokenError:
        return connection.broken(
            f"The connection to server {self.inbox.server!r} broke during the call. "
            "The next call connects again."
        )


def _died(error: BaseException) -> bool:
    root = root_of(error)
    return code_of(root) == CONNECTION_CLOSED and str(root) == "Connection closed"


def _forgotten(call: Call) -> bool:
    return call.http_failure is not None and call.http_failure.status == 404
