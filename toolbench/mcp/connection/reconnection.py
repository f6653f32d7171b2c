"""Keep the connection to a server, and reconnect if it is lost."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any, Literal, TypeVar

import anyio

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.attempt import Attempt, older_only_servers
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.development import Development
from toolbench.mcp.errors import (
    BrokenError,
    forgot_session,
    lost_connection,
    sentence,
)
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.threads import leave_behind_in_forks

# Seconds for all requests that must be sent before closing, together
_LAST = 8.0
# Seconds before the work of `schedule`
_PAUSE = 0.2
# Seconds to wait for the exit code of a process that has ended
_EXIT = 1.5
# Seconds between two checks of the files of a server under development
_LOOK = 0.5

T = TypeVar("T")

Status = Literal["new", "connecting", "connected", "lost", "failed", "closed"]


class ReconnectingConnection:
    """A connection to one server that is opened again if it is lost.

    The coroutines run in the background loop.
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
        development: Development | None = None,
    ) -> None:
        """Prepare to connect to *entry*.

        Args:
            entry: The configuration of the server.
            inbox: Receives notifications, logs and traffic.
            seconds: The time limit for connecting and reading the lists together.
            mode: `auto`, `legacy`, or a version of the protocol.
            features: The roots and extensions that this client offers the server.
            greet: A function that is awaited with each new connection before other code uses it.
            development: Watches the source files of the server, if the user is developing it.
        """
        self.entry = entry
        self.folder = Path.cwd()
        """The folder for relative paths of the server's process, the same after each restart."""
        self.inbox = inbox
        self.seconds = seconds
        self.mode = mode
        """The mode for the next connection; a mode that worked is used again."""
        self.error: str | None = None
        """Why the server could not be reached, with advice; None if there was no error."""
        self.notices: list[str] = []
        """Notes for the next result of a call, about data that the server lost at a restart."""
        self.development = development
        """The source of a server under development, until it is disconnected; else None."""
        # Each event is set when a request that must finish before closing has ended
        self._last_requests: set[asyncio.Event] = set()
        self._features = features
        self._greet = greet
        self._state: Status = "new"
        self._connection: Connection | None = None
        # The lost connection, for the notice
        self._lost: Connection | None = None
        # The last attempt to connect; while it runs, all callers wait for it
        self._attempt: Attempt | None = None
        # The number of requests that are running over each connection
        self._uses: Counter[Connection] = Counter()
        # Connections to close once no request runs over them
        self._retired: set[Connection] = set()
        self._closing: set[asyncio.Task[None]] = set()
        # Held while a process is being ended: a second close, and the next start, must wait until
        # it has ended
        self._ending = anyio.Lock()
        self._later: asyncio.Future[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        # Whether the connection belongs to the process from which this one was forked
        self._is_of_parent = False
        leave_behind_in_forks(self)

    def leave_behind(self) -> None:
        """In a forked process, give up the connection: its loop and pipes belong to the parent."""
        if self._state in ("connected", "connecting"):
            self._state, self._is_of_parent = "closed", True
        # Kept, because garbage collection would close the pipes
        tasks = self._later, self._watching, self._closing
        self._parents = self._connection, self._attempt, tasks
        self._connection = self._lost = self._attempt = self._later = self._watching = None
        self._uses, self._retired, self._closing = Counter(), set(), set()
        self._ending = anyio.Lock()

    @property
    def status(self) -> Status:
        """The state of the connection now."""
        # Read once: another thread may reconnect
        state, connection = self._state, self._connection
        alive = connection is not None and connection.is_alive
        return "lost" if state == "connected" and not alive else state

    @property
    def seconds_used(self) -> float:
        """The seconds spent on connecting, without the time in which the user was asked."""
        if self._attempt is None:
            return 0.0
        return self._attempt.seconds_used

    @property
    def is_recorded(self) -> bool:
        """Whether the messages are being recorded or replayed.

        Requests must then not depend on the time, which differs in a replay.
        """
        return self.inbox.recorder is not None or self.entry.transport == "replay"

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if this client runs no process for it."""
        # Read once: another thread may disconnect it meanwhile
        connection = self._connection
        if connection is None or self.status != "connected":
            return None
        return connection.pid

    @property
    def current(self) -> Connection:
        """The current connection, whether alive or not.

        Raises:
            ServerError: If there is no connection.
        """
        if self._connection is None:
            msg = f"Server {self.inbox.server!r} is not connected: {self.error or self._state}."
            raise ServerError(msg)
        return self._connection

    # --- opening and closing ------------------------------------------------------

    async def open(self, mode: str | None = None) -> None:
        """Connect to the server, close the previous connection, and remember the mode that worked.

        If another caller is already connecting, wait for that attempt. However, if that attempt was
        cancelled or has another *mode*, end it and start a new attempt.

        Raises:
            ServerError: If the server cannot be reached; the message says what to do.
        """
        while (attempt := self._running) is not None:
            if mode in (None, attempt.requested_mode) and not attempt.is_cancelled:
                await self._opened(attempt)
                return
            await attempt.cancel()
        # The user wants to try the newer protocol again
        if mode == "auto":
            older_only_servers.discard(self.entry.identity)
        # The caller knows that the server restarts, so no notice is needed
        self._lost = None
        await self._opened(self._begin(mode or self.mode))

    async def _opened(self, attempt: Attempt) -> None:
        try:
            await attempt.outcome()
        except asyncio.CancelledError:
            # The caller gave up, so the server must not start afterwards, unless another caller
            # waits for it
            if not attempt.is_awaited:
                await attempt.cancel()
            raise

    async def close(self) -> None:
        """Disconnect and end the server's process; a running attempt to connect is cancelled."""
        with anyio.move_on_after(_LAST):
            for end in list(self._last_requests):
                await end.wait()
        for task in (self._later, self._watching):
            if task is not None:
                task.cancel()
        self.development = None
        # First, so that requests that are cut off do not connect again
        self._set("closed")
        # End runs that are polling the state of a task
        for call in self.inbox.calls:
            call.on_close()
        if (attempt := self._running) is not None:
            await attempt.cancel()
        open_ones = [*self._retired]
        self._retired.clear()
        if self._connection is not None:
            open_ones.append(self._connection)
            self._connection = None
        await self._end(*open_ones)
        if self._closing:
            await asyncio.wait(self._closing)
        self.inbox.changes.note("status")

    @contextmanager
    def last_request(self) -> Iterator[None]:
        """Keep the connection and the background loop open during the `with` block."""
        end = asyncio.Event()
        self._last_requests.add(end)
        portal.close_first(end.wait)
        try:
            yield
        finally:
            end.set()
            self._last_requests.discard(end)
            portal.is_closed(end.wait)

    @property
    def _running(self) -> Attempt | None:
        """The attempt that is running now; None if there is none."""
        if self._attempt is not None and self._attempt.is_running:
            return self._attempt
        return None

    def _begin(self, mode: str) -> Attempt:
        """Begin to connect; as this does not await, no other task can begin at the same time."""
        attempt = self._attempt = Attempt(
            self.entry,
            self.inbox,
            self._features,
            mode=mode,
            seconds=self.seconds,
            folder=self.folder,
            development=self.development,
        )
        self._set("connecting")
        attempt.begin(self._connect(attempt))
        development = self.development
        if development is not None and development.is_watched and self._watching is None:
            self._watching = asyncio.ensure_future(self._watch(development))
        return attempt

    async def _connect(self, attempt: Attempt) -> None:
        try:
            if (before := self._connection) is not None:
                self._connection = None
                await self._end(before)
            connection = await attempt.connected(self._greet)
        except Exception as error:  # noqa: BLE001 - any error is explained in a sentence
            self.error = attempt.error = attempt.explained(error)
            if (recorder := self.inbox.recorder) is not None:
                recorder.failed(None, self.error, (), self.inbox.redactor)
            self._set("failed")
            return
        except BaseException:
            # Cancelled
            self._set("closed")
            raise
        self._connection, self.mode, self.error = connection, attempt.mode, None
        if self._lost is not None:
            self.notices[:] = self._lost_with(self._lost)
            self._lost = None
        self._is_of_parent = False
        self._set("connected")

    async def _end(self, *connections: Connection) -> None:
        """Close *connections*, and wait until all processes that were told to end have ended."""
        # An interrupt must leave no process behind
        with anyio.CancelScope(shield=True):
            async with self._ending:
                for connection in connections:
                    await connection.close()

    def _retire(self, connection: Connection) -> None:
        """Send no more requests over *connection*; close it when running requests have ended."""
        if self._connection is connection:
            self._lost, self._connection = connection, None
            self._retired.add(connection)
            self._close_unused(connection)

    def _close_unused(self, connection: Connection) -> None:
        if connection in self._retired and not self._uses[connection]:
            self._retired.remove(connection)
            task = asyncio.ensure_future(connection.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    # --- a server under development -------------------------------------------------

    async def catch_up(self, *, tries_again: bool = True) -> None:
        """Restart a server under development if its files have changed since it was started.

        If several callers do this at the same time, the server is restarted only once, and all
        callers wait for it. The old process runs until its running requests are answered. If
        *tries_again* is True, a server that failed to start is started again even if no file has
        changed.

        Raises:
            ServerError: If the server does not start.
        """
        while (development := self.development) is not None and not self._is_of_parent:
            if (attempt := self._running) is not None:
                if attempt.is_cancelled:
                    # An interrupt is ending it
                    await attempt.cancel()
                else:
                    # It may have begun before the last change of the files
                    await self._opened(attempt)
                continue
            before = self._attempt
            changed = await asyncio.to_thread(development.changed)
            if self._attempt is not before or self.development is None:
                continue
            # The state is "closed" if an interrupt ended the last attempt
            if not changed and not (tries_again and self._state in ("failed", "closed")):
                return
            development.note_cause(changed)
            if self._connection is not None and self._uses[self._connection]:
                self._retire(self._connection)
            # The note about the changed files replaces the notice of a loss
            self._lost = None
            await self._opened(self._begin(self.mode))
            return

    async def _watch(self, development: Development) -> None:
        """Restart the server after each change of its files, until it is disconnected."""
        while self.development is development:
            # The status and the next call show the error
            with suppress(ServerError):
                if await asyncio.to_thread(development.changed):
                    await self.catch_up(tries_again=False)
            await anyio.sleep(_LOOK)

    @contextmanager
    def _using(self, connection: Connection) -> Iterator[None]:
        """Keep *connection* open during the `with` block, even if `_retire` is called in it."""
        self._uses[connection] += 1
        try:
            yield
        finally:
            self._uses[connection] -= 1
            if not self._uses[connection]:
                del self._uses[connection]
            self._close_unused(connection)

    def schedule(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run *work* in a task after a pause, unless such a task is already waiting or running."""
        if self._later is None or self._later.done():
            self._later = asyncio.ensure_future(self._quietly(work))

    def schedule_renewal(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run *work* later in the background, to request something again after its `ttlMs` is over.

        Nothing is done if the messages are recorded or replayed. Any thread may call this.
        """
        if not self.is_recorded:
            portal.loop.call_soon_threadsafe(self.schedule, work)

    async def _quietly(self, work: Callable[[], Awaitable[None]]) -> None:
        # Many notifications within the pause cause only one run of the work
        await anyio.sleep(_PAUSE)
        # The status shows the error
        with suppress(ServerError):
            await work()

    def _set(self, state: Status) -> None:
        self._state = state
        self.inbox.changes.note("status")

    # --- asking -------------------------------------------------------------------

    async def request(
        self, method: str, params: Mapping[str, Any], call: Call, *, verb: str = ""
    ) -> dict[str, Any]:
        """Send a request, and return its result as the server sent it; see `Connection.request`.

        If the connection was lost earlier, connect again first. If the connection breaks during the
        request, the request is not sent again, because the server may have carried out a part of
        it. There is one exception: the request is sent again if the server refused it because it no
        longer knew the session.

        Args:
            method: The method of the request.
            params: The parameters of the request.
            call: The call to which the request belongs. It has the time limit, and the handler that
                answers questions.
            verb: Words for the request in error messages, such as `read 'x'`. If given, every error
                is converted to a ServerError with a message such as "Server 's' did not read 'x':
                ...".

        Raises:
            ServerError: If there is no connection and connecting fails.
            Exception: Any error of the SDK. Use `errors.sentence` to convert it to a message for
                the user.
        """
        try:
            return await self._answer(method, params, call)
        except ServerError:
            raise
        except Exception as error:
            # The SDK, anyio, httpx
            if not verb:
                raise
            reason = sentence(error, call=call)
            msg = f"Server {self.inbox.server!r} did not {verb}: {ended(reason)}"
            raise ServerError(self.inbox.safe_text(msg)) from error

    async def _answer(self, method: str, params: Mapping[str, Any], call: Call) -> dict[str, Any]:
        def ask(connection: Connection) -> Awaitable[dict[str, Any]]:
            return connection.request(method, params, call)

        connection = await self.live(call)
        try:
            return await self._over(connection, ask, call)
        except BrokenError:
            # Whatever the HTTP status is: a server that is shut down may also answer 404
            raise
        except Exception as error:
            # Of any kind: `forgot_session` recognizes it by its code or its status
            if not forgot_session(error, call):
                raise
        call.http_failure = None
        if (recorder := self.inbox.recorder) is not None:
            recorder.forgotten(call.token)
        # The server may still answer other requests over the old connection
        self._retire(connection)
        return await self._over(await self.live(call), ask, call)

    async def use(self, look: Callable[[Connection], Awaitable[T]], *, repeats: bool = False) -> T:
        """Call *look* with an open connection and return its result.

        If the server ends during *look* and *repeats* is True, connect and call *look* again. Set
        *repeats* only if *look* changes nothing at the server.

        Raises:
            ServerError: If there is no connection, or the server ends during *look*.
        """
        try:
            return await self._over(await self.live(), look)
        except BrokenError:
            if not repeats:
                raise
        return await self._over(await self.live(), look)

    async def _over(
        self,
        connection: Connection,
        look: Callable[[Connection], Awaitable[T]],
        call: Call | None = None,
    ) -> T:
        try:
            with self._using(connection):
                return await look(connection)
        except Exception as error:
            # The SDK's
            if not lost_connection(error):
                raise
            raise await self._death(connection, call) from error

    async def live(self, call: Call | None = None) -> Connection:
        """Return the open connection; if it was lost, connect again first.

        If several callers need the connection, they wait for the same attempt to connect, each
        until the time limit of its *call*.

        Raises:
            CallTimeoutError: If connecting takes longer than the time limit of *call*.
            ServerError: If the connection was closed on purpose, or connecting fails.
        """
        if self.status == "connected":
            return self.current
        if self._running is None and self._state != "closed":
            self._lost = self._connection or self._lost
            self._begin(self.mode)
        # Do not loop until it is alive: a server that ends after each start would be restarted
        # endlessly
        while self._state != "closed" and (attempt := self._running) is not None:
            await attempt.outcome(call)
        # It may have been closed before, or right after it was connected
        if self._state == "closed":
            why = "is disconnected: reconnect it first"
            if self._is_of_parent:
                why = "belongs to the process that connected it, not to this fork of it: connect it again"
            msg = f"Server {self.inbox.server!r} {why}."
            raise ServerError(msg)
        return self.current

    def _lost_with(self, broken: Connection) -> list[str]:
        """Return sentences for the user on what the server forgot when *broken* ended."""
        if self.entry.transport == "stdio":
            return [
                f"The server's process had ended{broken.how_it_ended} and was started again: "
                "what it kept in memory is gone."
            ]
        if broken.is_modern:
            # The newer protocol has no sessions, so the server kept nothing for this client
            return []
        return [
            "The connection to the server was lost and opened again: "
            "what the server kept in its session is gone."
        ]

    async def _death(self, connection: Connection, call: Call | None) -> BrokenError:
        """Return the error for a request during which *connection* ended."""
        name, what = self.inbox.server, "request"
        if call is not None and call.tool is not None:
            what = "call"
        # Comparing with the current connection would not do: another call may have reconnected
        if connection.ended_by_us:
            return BrokenError(
                f"Server {name!r} was disconnected here during the {what}: how much of it was "
                f"done is not known. %mcp reconnect {quote(name)} or reconnect() connects it again."
            )
        if connection.pid is not None:
            with anyio.move_on_after(_EXIT):
                while connection.exit_code is None:
                    await anyio.sleep(0.01)
        connection.end.note(connection.how_it_ended)
        return connection.broken(
            f"The connection to server {name!r} broke during the {what}. "
            f"The next {what} connects again.",
            call,
        )
