"""One attempt to connect to a server. All who wait for the server share it, and its one outcome."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from toolbench.errors import ServerError, ended
from toolbench.mcp.authorization.refusals import network_advice, slowness_advice
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.development import Development
from toolbench.mcp.errors import lost_connection, root_of, sentence
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.stderr import ENDED
from toolbench.mcp.recording.player import RecordedFailureError

older_only_servers: set[tuple[str, ...]] = set()
"""The servers, by identity, that did not answer a request of the newer protocol."""
# Seconds between two looks at the time while a person is asked
_LOOK = 0.1

Greet = Callable[[Connection], Awaitable[None]]


class Attempt:
    """Connects once, with the newer protocol and then the older one if needed.

    Its coroutines run in the background loop.
    """

    def __init__(
        self,
        entry: ServerEntry,
        inbox: Inbox,
        features: ClientFeatures,
        *,
        mode: str,
        seconds: float,
        folder: Path,
        development: Development | None = None,
    ) -> None:
        """Prepare to connect to *entry* within *seconds*; relative paths are in *folder*.

        *development* is the source of the server, if it is under development.
        """
        self.requested_mode = mode
        self.mode = mode
        """The mode that worked, when it has connected."""
        self.connection = Connection(entry, inbox, features)
        """The connection that is tried."""
        self.error: str | None = None
        """Why it failed, with advice."""
        self._entry, self._inbox, self._features = entry, inbox, features
        self._seconds = seconds
        self._folder, self._development = folder, development
        # When connecting began; later by what a person took before the present try
        self._began = anyio.current_time()
        # Of the try, for what an error says
        self._call = Call(seconds=seconds)
        # A scope and not `Task.cancel`: it cancels again what swallowed the first cancel
        self._scope = anyio.CancelScope()
        self._task: asyncio.Task[None] | None = None
        self._waiting = 0

    # --- shared by all who wait -------------------------------------------------------

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do *work*, which connects, in a task of its own: a waiter that gives up does not end it."""
        self._task = asyncio.ensure_future(self._cancellable(work))

    async def _cancellable(self, work: Coroutine[Any, Any, None]) -> None:
        with self._scope:
            await work

    @property
    def is_running(self) -> bool:
        """Whether the outcome is still open."""
        return self._task is not None and not self._task.done()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled; it may still run, until its process has ended."""
        return self._scope.cancel_called

    @property
    def is_awaited(self) -> bool:
        """Whether anyone waits for the outcome."""
        return self._waiting > 0

    async def outcome(self, call: Call | None = None) -> None:
        """Wait until it is connected; with *call* no longer than the limit of that.

        Raises:
            CallTimeoutError: If the time of *call* is up. Connecting goes on.
            ServerError: If it failed, or was cancelled.
        """
        task: Any = self._task
        self._waiting += 1
        try:
            if call is None:
                await asyncio.wait({task})
            else:
                await self._within_limit(task, call)
        finally:
            self._waiting -= 1
        if self.is_cancelled:
            msg = f"Server {self._inbox.server!r} was disconnected while it was connecting."
            raise ServerError(msg)
        # What is no Exception
        task.result()
        if self.error is not None:
            raise ServerError(self.error)

    async def _within_limit(self, task: "asyncio.Task[None]", call: Call) -> None:
        """Wait for *task*; the seconds in which a person is asked do not count."""
        while not task.done():
            if call.used >= call.seconds:
                msg = (
                    f"the server was not connected within {call.seconds:.3g} s; "
                    "connecting continues for the next call"
                )
                raise CallTimeoutError(msg)
            began = anyio.current_time()
            await asyncio.wait({task}, timeout=min(call.seconds - call.used, _LOOK))
            if not self._is_asking:
                call.used += anyio.current_time() - began

    @property
    def _is_asking(self) -> bool:
        return self._call.is_waiting or any(call.is_waiting for call in self._inbox.calls)

    async def cancel(self) -> None:
        """End the attempt; all who wait for it get an error."""
        self._scope.cancel()
        if self._task is not None:
            # Even if this is cancelled too: the process that was started must end first
            with anyio.CancelScope(shield=True):
                await asyncio.wait({self._task})

    # --- connecting -------------------------------------------------------------------

    @property
    def seconds_used(self) -> float:
        """The seconds for which it connects, without those in which a person was asked."""
        return anyio.current_time() - self._began - self.connection.waited

    async def connected(self, greet: Greet) -> Connection:
        """Return a new connection, after *greet* has used it.

        Raises:
            Exception: Any error of the transport or the SDK; `explained` puts it into words.
        """
        # The first time this takes seconds, which are none of the server's
        from toolbench.mcp.wire import sdk_session, transports  # noqa: F401, PLC0415

        self._began = anyio.current_time()
        inbox = self._inbox
        entry = self._entry.expanded(os.environ)
        if entry.transport == "stdio":
            entry = replace(entry, cwd=str(self._folder / (entry.cwd or "")))
        inbox.redact_with(entry.redactor)
        if self._development is not None:
            await asyncio.to_thread(self._development.begin, entry)
        identity = self._entry.identity
        if self.requested_mode == "auto" and identity in older_only_servers:
            # The newer protocol would wait for its whole time limit again
            try:
                return await self._try(entry, "legacy", greet)
            except Exception:
                # The program may be another one by now
                older_only_servers.discard(identity)
                if self.seconds_used >= self._seconds:
                    raise
        inbox.ignores_newer = False
        try:
            connection = await self._try(entry, self.requested_mode, greet)
        except Exception as error:
            # The first request of the newer protocol ends some programs
            may_be_older = self.requested_mode == "auto" and entry.transport == "stdio"
            if not may_be_older or not lost_connection(error):
                raise
            inbox.stderr.remark(ENDED, since=self.connection.stderr_start)
            connection = await self._try(entry, "legacy", greet)
        if inbox.has_ignored_newer and not connection.is_modern:
            older_only_servers.add(identity)
        return connection

    async def _try(self, entry: ServerEntry, mode: str, greet: Greet) -> Connection:
        self._began += self.connection.waited
        connection = Connection(entry, self._inbox, self._features)
        self.mode, self.connection = mode, connection
        self._call = Call(seconds=self._seconds, used=self.seconds_used)
        try:
            await connection.open(mode, self._call)
            await greet(connection)
        except BaseException:
            # Cancelled too: no process is left behind
            with anyio.CancelScope(shield=True):
                await connection.close()
            raise
        return connection

    # --- what is said of a failure ------------------------------------------------------

    def failed_at(self, error: Exception) -> str:
        """Return the step of connecting at which *error* ended the attempt, as the doctor names it.

        A recording has no steps.
        """
        connection, messages = self.connection, list(self._inbox.traffic)
        if connection.protocol_version:
            return "tools"
        failure = self._call.http_failure
        if failure is not None and failure.status in (401, 403):
            return "authorization"
        is_redirect = 300 <= self._inbox.http_answer[0] < 400
        is_reached = (failure is None or failure.is_answer) and not is_redirect
        if is_reached and any(m.direction == "received" and m.kind != "noise" for m in messages):
            return "protocol version"
        if self._entry.url:
            return "HTTP"
        if self._entry.transport == "memory":
            return "object"
        was_asked = any(message.direction == "sent" for message in messages)
        if was_asked and not (lost_connection(error) and connection.exit_code is not None):
            return "first message"
        return "process"

    def explained(self, error: Exception) -> str:
        """Return *error*, which ended the attempt, as a sentence with advice."""
        name = self._inbox.server
        heading = f"Server {name!r} did not connect: "
        if isinstance(error, ServerError):
            # About the entry itself
            heading = f"Server {name!r}: "
        elif isinstance(root_of(error), RecordedFailureError):
            # It has a heading
            return str(root_of(error))
        return f"{self._inbox.safe_text(heading)}{self.reason(error)}"

    def reason(self, error: Exception) -> str:
        """Return why *error* ended the attempt, with advice, without the name of the server."""
        if isinstance(error, ServerError):
            return self._inbox.safe_text(str(error))
        reason = self._advice(root_of(error)) or sentence(error, call=self._call)
        if lost_connection(error) and self.connection.exit_code is not None:
            reason = "its process ended before it had answered"
        return str(self.connection.broken(ended(reason)))

    def _advice(self, root: BaseException) -> str:
        """Return advice if the server is slow or not reached; empty if the reason is unknown."""
        entry = self._entry
        if self._call.http_failure is not None:
            return ""
        is_silent = not (self._inbox.noise_count or self.connection.unfinished_line)
        if isinstance(root, CallTimeoutError) and is_silent:
            return f"{root}.{slowness_advice(entry.command, self._seconds)}"
        if not entry.url:
            return ""
        return network_advice(entry.url, type(root).__name__, str(root))
