"""Keep the connection to a server, and open it again after a loss."""

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

# Seconds for all last requests together
_LAST = 8.0
# Seconds before the work of `schedule`
_PAUSE = 0.2
# Seconds for the exit code of a process whose end was noticed
_EXIT = 1.5
# Seconds between two looks at the files of a server under development
_LOOK = 0.5

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
        development: Development | None = None,
    ) -> None:
        """Prepare to connect to *entry*.

        Args:
            entry: The configuration of the server.
            inbox: Takes notifications, logs and traffic.
            seconds: The time limit for connecting, and for the lists that are read then.
            mode: `auto`, `legacy`, or a version of the protocol.
            features: The roots and extensions that this client offers the server.
            greet: A function that is called with each new connection, before its use.
            development: The source of the server, if it is under development.
        """
        self.entry = entry
        self.folder = Path.cwd()
        """The folder for relative paths of the server's process, also when it is started again."""
        self.inbox = inbox
        self.seconds = seconds
        self.mode = mode
        """The mode of the next connection; a mode that worked is kept."""
        self.error: str | None = None
        """The reason why the server could not be reached, with advice; None without an error."""
        self.notices: list[str] = []
        """Notes for the person in the next result of a call, about data that a restart lost."""
        self.development = development
        """The source of a server under development, until it is disconnected; else None."""
        # The ends of the requests that are sent before the connection closes
        self._last_requests: set[asyncio.Event] = set()
        self._features = features
        self._greet = greet
        self._state: Status = "new"
        self._connection: Connection | None = None
        # The lost connection, for the notice
        self._lost: Connection | None = None
        # The last attempt to connect. While it runs there is no second one: all wait for this one
        self._attempt: Attempt | None = None
        # The requests that run over each connection
        self._uses: Counter[Connection] = Counter()
        # Connections to be closed when no request runs over them
        self._retired: set[Connection] = set()
        self._closing: set[asyncio.Task[None]] = set()
        # Held while a process ends, by all who end it: a second close, and the next start, must
        # wait for the end too
        self._ending = anyio.Lock()
        self._later: asyncio.Future[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        # Whether the connection belongs to the process that this one is a fork of
        self._is_of_parent = False
        leave_behind_in_forks(self)

    def leave_behind(self) -> None:
        """Leave the connection to the process that was forked: its loop and its pipes are there."""
        if self._state in ("connected", "connecting"):
            self._state, self._is_of_parent = "closed", True
        # Kept, because what is collected closes its pipes
        tasks = self._later, self._watching, self._closing
        self._parents = self._connection, self._attempt, tasks
        self._connection = self._lost = self._attempt = self._later = self._watching = None
        self._uses, self._retired, self._closing = Counter(), set(), set()
        self._ending = anyio.Lock()

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
        if self._attempt is None:
            return 0.0
        return self._attempt.seconds_used

    @property
    def is_recorded(self) -> bool:
        """Whether the messages are written to a recording, or come from a recording.

        Then no request may depend on the time, because a replay has other times.
        """
        return self.inbox.recorder is not None or self.entry.transport == "replay"

    @property
    def pid(self) -> int | None:
        """The process id of the server; None without a running process of ours."""
        # Another thread may disconnect it meanwhile
        connection = self._connection
        if connection is None or self.status != "connected":
            return None
        return connection.pid

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

        If it is connecting already, with this mode or *mode* is None, wait for that. If that is
        cancelled, wait for its end first.

        Raises:
            ServerError: If the server cannot be reached; the message says what to do.
        """
        while (attempt := self._running) is not None:
            if mode in (None, attempt.requested_mode) and not attempt.is_cancelled:
                await self._opened(attempt)
                return
            await attempt.cancel()
        # The person wants to try the newer protocol again
        if mode == "auto":
            older_only_servers.discard(self.entry.identity)
        # The caller knows that the server starts anew: no notice
        self._lost = None
        await self._opened(self._begin(mode or self.mode))

    async def _opened(self, attempt: Attempt) -> None:
        try:
            await attempt.outcome()
        except asyncio.CancelledError:
            # The one who wanted to connect gave up, so nothing may start afterwards, unless another
            # one waits for it too
            if not attempt.is_awaited:
                await attempt.cancel()
            raise

    async def close(self) -> None:
        """Disconnect; the server's process ends. An attempt to connect is cancelled."""
        with anyio.move_on_after(_LAST):
            for end in list(self._last_requests):
                await end.wait()
        for task in (self._later, self._watching):
            if task is not None:
                task.cancel()
        self.development = None
        # First, so that requests that are cut off do not connect again
        self._set("closed")
        # A run that waits between two looks at its task ends now
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
        """Keep the connection and the background loop open until the `with` block has ended."""
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
        """The attempt that runs now."""
        if self._attempt is not None and self._attempt.is_running:
            return self._attempt
        return None

    def _begin(self, mode: str) -> Attempt:
        """Begin to connect; without an await, so that no other task begins it too."""
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
        """Close *connections*; return when their processes, and those of other closes, have ended."""
        # An interrupt must leave no process behind
        with anyio.CancelScope(shield=True):
            async with self._ending:
                for connection in connections:
                    await connection.close()

    def _retire(self, connection: Connection) -> None:
        """Use *connection* for no further request, and close it when none runs over it any more."""
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
        """Start a server under development again if its files have changed since it was started.

        All who come meanwhile wait for this one attempt. A request that runs keeps the old process
        until it has its answer. With *tries_again* also a server is started that did not start before.

        Raises:
            ServerError: If the server does not start.
        """
        while (development := self.development) is not None and not self._is_of_parent:
            if (attempt := self._running) is not None:
                if attempt.is_cancelled:
                    # An interrupt ends it
                    await attempt.cancel()
                else:
                    # It may have begun before the last change
                    await self._opened(attempt)
                continue
            before = self._attempt
            changed = await asyncio.to_thread(development.changed)
            if self._attempt is not before or self.development is None:
                continue
            # Closed: an interrupt has ended the last attempt
            if not changed and not (tries_again and self._state in ("failed", "closed")):
                return
            development.note_cause(changed)
            if self._connection is not None and self._uses[self._connection]:
                self._retire(self._connection)
            # The note is another one
            self._lost = None
            await self._opened(self._begin(self.mode))
            return

    async def _watch(self, development: Development) -> None:
        """Start the server again after each change of its files, until it is disconnected."""
        while self.development is development:
            # The status shows it, and so does the next call
            with suppress(ServerError):
                if await asyncio.to_thread(development.changed):
                    await self.catch_up(tries_again=False)
            await anyio.sleep(_LOOK)

    @contextmanager
    def _using(self, connection: Connection) -> Iterator[None]:
        """Keep a retired *connection* open until the `with` block has ended."""
        self._uses[connection] += 1
        try:
            yield
        finally:
            self._uses[connection] -= 1
            if not self._uses[connection]:
                del self._uses[connection]
            self._close_unused(connection)

    def schedule(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do *work* in a task after a pause; do nothing if such a task waits or runs already."""
        if self._later is None or self._later.done():
            self._later = asyncio.ensure_future(self._quietly(work))

    def schedule_renewal(self, work: Callable[[], Awaitable[None]]) -> None:
        """Call `schedule` with *work*, because an answer is not fresh any more.

        Do nothing if the messages are recorded. Any thread may call this.
        """
        if not self.is_recorded:
            portal.loop.call_soon_threadsafe(self.schedule, work)

    async def _quietly(self, work: Callable[[], Awaitable[None]]) -> None:
        # Many notifications cause the work once
        await anyio.sleep(_PAUSE)
        # The status shows it
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

        If the connection was lost, connect again first.

        If the connection breaks during a request, the request is not repeated: the server may have
        done half of it. The request is repeated if the server had forgotten our session.

        Args:
            method: The method of the request.
            params: Its parameters.
            call: Its time limit, and who answers questions.
            verb: What the server is asked to do, such as `read 'x'`. With it, any error is a
                ServerError: "Server 's' did not read 'x': ...".

        Raises:
            ServerError: If there is no connection and connecting fails.
            Exception: Any error of the SDK; the function `sentence` explains it.
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
            # Whatever HTTP status came with it: a server that is shut down may say 404 too
            raise
        except Exception as error:
            if not forgot_session(error, call):
                raise
        call.http_failure = None
        if (recorder := self.inbox.recorder) is not None:
            recorder.forgotten(call.token)
        # Other requests may run over it, which the server still answers
        self._retire(connection)
        return await self._over(await self.live(call), ask, call)

    async def use(self, look: Callable[[Connection], Awaitable[T]], *, repeats: bool = False) -> T:
        """Call *look* with an open connection and return its result.

        With *repeats*, for what changes nothing at the server, it is called again, once, if the
        server ends during it.

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
        """Return the connection; open it again if it was lost.

        Of those who come meanwhile, all wait for this one attempt, and with *call* no longer than
        the limit of that.

        Raises:
            CallTimeoutError: If the time of *call* is up.
            ServerError: If the connection was closed on purpose, or connecting fails.
        """
        if self.status == "connected":
            return self.current
        if self._running is None and self._state != "closed":
            self._lost = self._connection or self._lost
            self._begin(self.mode)
        # Not until it is alive: a server that ends after each start would be started again and again
        while self._state != "closed" and (attempt := self._running) is not None:
            await attempt.outcome(call)
        # Before, or right after it was connected
        if self._state == "closed":
            why = "is disconnected: reconnect it first"
            if self._is_of_parent:
                why = "belongs to the process that connected it, not to this fork of it: connect it again"
            msg = f"Server {self.inbox.server!r} {why}."
            raise ServerError(msg)
        return self.current

    def _lost_with(self, broken: Connection) -> list[str]:
        """Return what the server lost when the connection *broken* ended, in a sentence for the user."""
        if self.entry.transport == "stdio":
            return [
                f"The server's process had ended{broken.how_it_ended} and was started again: "
                "what it kept in memory is gone."
            ]
        if broken.is_modern:
            # It has no sessions, so the server kept nothing for this client
            return []
        return [
            "The connection to the server was lost and opened again: "
            "what the server kept in its session is gone."
        ]

    async def _death(self, connection: Connection, call: Call | None) -> BrokenError:
        """Return the error of a request over *connection*, which ended during it."""
        name, what = self.inbox.server, "request"
        if call is not None and call.tool is not None:
            what = "call"
        # Not whether it is still the present one: another call may have connected again already
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
