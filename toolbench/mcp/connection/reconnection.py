"""Connect to a server, with the older protocol if needed, and again after a loss."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.authorization.refusals import network_advice, slowness_advice
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.connection import Connection, Pages, Send, SendPage
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.elicitation import Answerer
from toolbench.mcp.errors import (
    BrokenError,
    forgot_session,
    lost_connection,
    root_of,
    sentence,
)
from toolbench.mcp.features.log_level import restore_log_level, set_log_level
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.stderr import ENDED
from toolbench.mcp.recording.player import RecordedFailureError

# The limit for all requests together
_SECONDS = 8.0


class LastRequests:
    """The requests of one connection for which the connection waits before it closes.

    The methods run in the background loop.
    """

    def __init__(self) -> None:
        """Make an empty collection of requests."""
        self._ends: set[asyncio.Event] = set()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Keep the connection and the background loop open until the `with` block has ended."""
        end = asyncio.Event()
        self._ends.add(end)
        portal.close_first(end.wait)
        try:
            yield
        finally:
            end.set()
            self._ends.discard(end)
            portal.is_closed(end.wait)

    async def are_sent(self) -> None:
        """Wait until the `with` blocks of `sending` have ended, at most `_SECONDS`."""
        with anyio.move_on_after(_SECONDS):
            for end in list(self._ends):
                await end.wait()


older_only_servers: set[tuple[str, ...]] = set()
"""The servers, by identity, that did not answer a request of the newer protocol."""
# Seconds before the work of `soon`
_PAUSE = 0.2

T = TypeVar("T")

Status = Literal["new", "connecting", "connected", "lost", "failed", "closed"]


class ReconnectingConnection:
    """Keeps the connection to one server, and opens it again after a loss.

    Its coroutines run in the background loop.
    """

    def __init__(
        self,
        entry: ServerEntry,
        inbox: Inbox,
        *,
        seconds: float,
        mode: str,
        features: ClientFeatures,
        greet: Callable[[Connection], Awaitable[None]],
    ) -> None:
        """Prepare to connect to *entry*.

        Args:
            entry: The configuration of the server.
            inbox: Takes notifications, logs and traffic.
            seconds: The time limit for connecting, and for the lists that are read then.
            mode: `auto`, `legacy`, or a version of the protocol.
            features: The roots and extensions that this client offers the server.
            greet: A function that is called with each new connection, before its use.
        """
        self.entry = entry
        self.folder = Path.cwd()
        """The folder for relative paths of the server's process, also when it is started again."""
        self.inbox = inbox
        self.seconds = seconds
        self.mode = mode
        """The mode of the next connection; a mode that worked is kept."""
        self.is_older_only = False
        """Whether the newer protocol was tried, and the server knows only the older one."""
        self.error: str | None = None
        """The reason why the server could not be reached, with advice; None without an error."""
        self.notices: list[str] = []
        """Notes for the person in the next result of a call, about data that a restart lost."""
        self.last_requests = LastRequests()
        """The requests that are sent before the connection closes."""
        self._features = features
        self._greet = greet
        self._state: Status = "new"
        self._connection: Connection | None = None
        # The lost connection, for the notice
        self._lost: Connection | None = None
        self._lock = anyio.Lock()
        self._later: asyncio.Future[None] | None = None
        self._call = Call(seconds=seconds)
        # When connecting began; later by what a person took before the present try
        self._began = 0.0
        self._tried = Connection(entry, inbox, features)
        inbox.log.on_level = partial(portal.call, set_log_level, self)

    @property
    def status(self) -> Status:
        """The state of the connection now."""
        # another thread may reconnect
        state, connection = self._state, self._connection
        alive = connection is not None and connection.is_alive
        return "lost" if state == "connected" and not alive else state

    @property
    def seconds_used(self) -> float:
        """The seconds for which it connects, without those in which a person was asked."""
        return anyio.current_time() - self._began - self._tried.waited

    @property
    def is_recorded(self) -> bool:
        """Whether the messages are written to a recording, or come from a recording.

        Then no request may depend on the time, because a replay has other times.
        """
        return self.inbox.recorder is not None or self.entry.transport == "replay"

    @property
    def pid(self) -> int | None:
        """The process id of the server; None without a running process of ours."""
        return self.current.pid if self.status == "connected" else None

    @property
    def current(self) -> Connection:
        """The present connection, alive or not.

        Raises:
            ServerError: If there is no connection.
        """
        if self._connection is None:
            msg = f"Server {self.inbox.server!r} is not connected: {self.error or self._state}."
            raise ServerError(msg)
        return self._connection

    # --- opening and closing ------------------------------------------------------

    async def open(self, mode: str | None = None) -> None:
        """Close an older connection and connect; remember the mode that worked.

        Raises:
            ServerError: If the server cannot be reached; the message says what to do.
        """
        async with self._lock:
            # The person wants to try the newer protocol again
            if mode == "auto":
                older_only_servers.discard(self.entry.identity)
            # The caller knows that the server starts anew: no notice
            self._lost = None
            await self._open(mode or self.mode)

    async def close(self) -> None:
        """Disconnect; the server's process ends."""
        await self.last_requests.are_sent()
        async with self._lock:
            if self._later is not None:
                self._later.cancel()
            # Requests that are cut off do not connect again
            self._state = "closed"
            # A run that waits between two looks at its task ends now
            for call in self.inbox.calls:
                call.on_close()
            await self._drop()
            self._set("closed")

    async def _open(self, mode: str) -> None:
        self._set("connecting")
        await self._drop()
        self._tried = Connection(self.entry, self.inbox, self._features)
        try:
            # The first time this takes seconds, which are none of the server's
            from toolbench.mcp.wire import sdk_session, transports  # noqa: F401, PLC0415

            self._began = anyio.current_time()
            self._connection = await self._connected(mode)
        except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
            self.error = self._explained(error)
            if (recorder := self.inbox.recorder) is not None:
                recorder.failed(None, self.error, (), self.inbox.redactor)
            self._set("failed")
            # It explains the nested groups
            raise ServerError(self.error) from None
        except BaseException:
            # Interrupted
            self._set("closed")
            raise
        self.error = None
        self._set("connected")

    async def _connected(self, mode: str) -> Connection:
        """Connect; if the newer protocol ends the process, connect again with the older protocol."""
        requested_mode = mode
        if mode == "auto" and self.entry.identity in older_only_servers:
            # A try would wait for its whole time limit again
            mode = "legacy"
        self.inbox.ignores_newer = False
        entry = self.entry.expanded(os.environ)
        if entry.transport == "stdio":
            entry = replace(entry, cwd=str(self.folder / (entry.cwd or "")))
        self.inbox.redact_with(entry.redactor)
        try:
            connection = await self._attempt(entry, mode)
        except Exception as error:
            # The newer protocol may end a server, and the program may be another one by now
            if mode != requested_mode:
                older_only_servers.discard(self.entry.identity)
                if self.seconds_used < self.seconds:
                    return await self._connected(requested_mode)
            may_be_older = mode == "auto" and entry.transport == "stdio"
            if not may_be_older or not lost_connection(error):
                raise
            self.inbox.stderr.remark(ENDED, since=self._tried.stderr_start)
            connection = await self._attempt(entry, "legacy")
            mode = "legacy"
        if self.inbox.has_ignored_newer and not connection.is_modern:
            older_only_servers.add(self.entry.identity)
        self.mode = mode
        if requested_mode == "auto":
            self.is_older_only = not connection.is_modern
        return connection

    async def _attempt(self, entry: ServerEntry, mode: str) -> Connection:
        connection = Connection(entry, self.inbox, self._features)
        self._began += self._tried.waited
        self._tried = connection
        self._call = self._next_call()
        try:
            await connection.open(mode, self._call)
            await self._greet(connection)
            if (level := self.inbox.log_level) is not None:
                await restore_log_level(connection, level, self._next_call())
        except BaseException:
            # Cancelled too: no process is left behind
            with anyio.CancelScope(shield=True):
                await connection.close()
            raise
        return connection

    def _next_call(self) -> Call:
        return Call(seconds=self.seconds, used=self.seconds_used)

    async def _drop(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with anyio.CancelScope(shield=True):
                await connection.close()

    def soon(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do *work* in a task after a pause; do nothing if such a task waits or runs already."""
        if self._later is None or self._later.done():
            self._later = asyncio.ensure_future(self._quietly(work))

    def renew(self, work: Callable[[], Awaitable[None]]) -> None:
        """Call `soon` with *work*, because an answer is not fresh any more.

        Do nothing if the messages are recorded. Any thread may call this.
        """
        if not self.is_recorded:
            portal.loop.call_soon_threadsafe(self.soon, work)

    async def _quietly(self, work: Callable[[], Awaitable[None]]) -> None:
        # Many notifications cause the work once
        await anyio.sleep(_PAUSE)
        # The status shows it
        with suppress(ServerError):
            await work()

    def _set(self, state: Status) -> None:
        self._state = state
        self.inbox.changes.note("status")

    def _explained(self, error: Exception) -> str:
        name = self.inbox.server
        # About the entry itself
        if isinstance(error, ServerError):
            return self.inbox.safe_text(f"Server {name!r}: {error}")
        if isinstance(root := root_of(error), RecordedFailureError):
            return str(root)
        reason = self._advice(root) or sentence(error, call=self._call)
        if lost_connection(error) and self._tried.exit_code is not None:
            reason = "its process ended before it had answered"
        text = f"Server {name!r} did not connect: {ended(reason)}"
        return str(self._tried.broken(text))

    def _advice(self, root: BaseException) -> str:
        """Return advice if the server is slow or not reached; empty if the reason is unknown."""
        entry = self.entry
        if self._call.http_failure is not None:
            return ""
        is_silent = not (self.inbox.noise_count or self._tried.unfinished_line)
        if isinstance(root, CallTimeoutError) and is_silent:
            return f"{root}.{slowness_advice(entry.command, self.seconds)}"
        if not entry.url:
            return ""
        return network_advice(entry.url, type(root).__name__, str(root))

    # --- asking -------------------------------------------------------------------

    async def ask(self, send: Send, call: Call) -> dict[str, Any]:
        """Send a request; if the connection was lost, connect again first.

        If the connection breaks during a request, the request is not repeated: the server may have
        done half of it. The request is repeated if the server had forgotten our session.

        Raises:
            ServerError: If there is no connection and connecting fails.
            Exception: Any error of the SDK; the function `sentence` explains it.
        """
        connection = await self.live()
        try:
            raw = await connection.ask(send, call)
        except Exception as error:
            # A forgotten session can be opened again
            if forgot_session(error, call):
                call.http_failure = None
                if (recorder := self.inbox.recorder) is not None:
                    recorder.forgotten(call.token)
                await self._reopen(connection)
                raw = await self.current.ask(send, call)
            elif lost_connection(error):
                what = "request" if call.tool is None else "call"
                raise self._death(connection, what) from error
            else:
                raise
        return raw

    async def ask_to(
        self, verb: str, send: Send, seconds: float, answerer: Answerer | None = None
    ) -> dict[str, Any]:
        """Send a request as `ask` does; *verb* says in an error what the request is for.

        *answerer*, or else the session's own, answers questions of the server.

        Raises:
            ServerError: If there is no answer, or the answer is an error.
        """
        call = Call(seconds=seconds, answerer=answerer)
        try:
            return await self.ask(send, call)
        except ServerError:
            raise
        except Exception as error:
            # The SDK, anyio, httpx
            reason = sentence(error, call=call)
            msg = f"Server {self.inbox.server!r} did not {verb}: {ended(reason)}"
            raise ServerError(self.inbox.safe_text(msg)) from error

    async def pages(self, key: str, send: SendPage, seconds: float) -> Pages:
        """Return all pages of a list; see `Connection.pages`.

        A list request changes nothing, so it is repeated once if the server ends before its
        answer.

        Raises:
            ServerError: If there is no connection, or the server ends again.
        """
        return await self.twice(lambda over: over.pages(key, send, seconds))

    async def twice(self, look: Callable[[Connection], Awaitable[T]]) -> T:
        """Return the result of *look*, a request that changes nothing at the server.

        The request is repeated once if the server ends during it.

        Raises:
            ServerError: If there is no connection, or the server ends again.
        """
        try:
            return await self.once(look)
        except BrokenError:
            return await self.once(look)

    async def once(self, look: Callable[[Connection], Awaitable[T]]) -> T:
        """Call *look* with an open connection and return its result.

        Raises:
            ServerError: If there is no connection, or the server ends during the request.
        """
        connection = await self.live()
        try:
            return await look(connection)
        except Exception as error:
            # The SDK's
            if not lost_connection(error):
                raise
            raise self._death(connection, "request") from error

    async def live(self) -> Connection:
        """Return the connection; open it again if it was lost.

        Raises:
            ServerError: If the connection was closed on purpose, or connecting fails.
        """
        self._refuse_closed()
        if self.status != "connected":
            await self._reopen(self._connection)
        return self.current

    async def _reopen(self, broken: Connection | None) -> None:
        """Connect again, unless another task has already replaced the connection *broken*."""
        is_tried = self._lock.locked()
        async with self._lock:
            # While this waited for the lock
            self._refuse_closed()
            if is_tried and self._state == "failed":
                # Else of many calls each would wait for the whole time limit, one after another
                raise ServerError(self.error)
            if self._connection is broken or self.status != "connected":
                self._lost = broken or self._lost
                await self._open(self.mode)
                if self._lost is not None:
                    self.notices[:] = [self._restart(self._lost)]
                    self._lost = None

    def _refuse_closed(self) -> None:
        if self._state == "closed":
            msg = f"Server {self.inbox.server!r} is disconnected: reconnect it first."
            raise ServerError(msg)

    def _restart(self, broken: Connection) -> str:
        """Return a sentence for a person: what the server lost when the connection *broken* ended."""
        if self.entry.transport != "stdio":
            return (
                "The connection to the server was lost and opened again: "
                "what the server kept in its session is gone."
            )
        return (
            f"The server's process had ended{broken.how_it_ended} and was started again: "
            "what it kept in memory is gone."
        )

    def _death(self, connection: Connection, what: str) -> BrokenError:
        name = self.inbox.server
        # This side has closed it
        if connection is not self._connection:
            return BrokenError(
                f"Server {name!r} was disconnected here during the {what}: how much of it was "
                f"done is not known. %mcp reconnect {name} or reconnect() connects it again."
            )
        return connection.broken(
            f"The connection to server {name!r} broke during the {what}. "
            f"The next {what} connects again."
        )
