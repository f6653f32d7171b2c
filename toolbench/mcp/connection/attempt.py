"""One attempt to connect to a server; all callers that wait for the server share it."""

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
"""The identities of servers that did not answer a request of the newer protocol."""
# Seconds between two checks of the time limit
_LOOK = 0.1

Greet = Callable[[Connection], Awaitable[None]]


class Attempt:
    """One attempt to connect, with the newer protocol and then, if needed, with the older one.

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
        """Prepare to connect to *entry* within *seconds*; relative paths start from *folder*.

        *development* watches the source files of the server, if the user is developing it.
        """
        self.requested_mode = mode
        self.mode = mode
        """The mode that worked, once the attempt has connected."""
        self.connection = Connection(entry, inbox, features)
        """The connection that is being tried."""
        self.error: str | None = None
        """Why the attempt failed, with advice; None if it did not fail."""
        self._entry, self._inbox, self._features = entry, inbox, features
        self._seconds = seconds
        self._folder, self._development = folder, development
        # When connecting began, plus the seconds for which the user was asked in earlier tries
        self._began = anyio.current_time()
        # The call of the current try, for error messages
        self._call = Call(seconds=seconds)
        # Not `Task.cancel`: a scope cancels again if code swallows the first cancellation
        self._scope = anyio.CancelScope()
        self._task: asyncio.Task[None] | None = None
        self._waiting = 0

    # --- shared by all who wait -------------------------------------------------------

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work*, which connects, in a task that continues if callers stop waiting."""
        self._task = asyncio.ensure_future(self._cancellable(work))

    async def _cancellable(self, work: Coroutine[Any, Any, None]) -> None:
        with self._scope:
            await work

    @property
    def is_running(self) -> bool:
        """Whether the attempt has not ended yet."""
        return self._task is not None and not self._task.done()

    @property
    def is_cancelled(self) -> bool:
        """Whether the attempt was cancelled; it still runs until the server's process has ended."""
        return self._scope.cancel_called

    @property
    def is_awaited(self) -> bool:
        """Whether any caller is waiting for the outcome."""
        return self._waiting > 0

    async def outcome(self, call: Call | None = None) -> None:
        """Wait until the server is connected, but no longer than the time limit of *call*.

        Raises:
            CallTimeoutError: If the time limit of *call* is over. The attempt continues
                nevertheless.
            ServerError: If the attempt failed or was cancelled.
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
        # Raises an error that is not an Exception
        task.result()
        if self.error is not None:
            raise ServerError(self.error)

    async def _within_limit(self, task: "asyncio.Task[None]", call: Call) -> None:
        """Wait for *task*; the time in which the user is asked does not count."""
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
        """Cancel the attempt; callers that wait for it get an error."""
        self._scope.cancel()
        if self._task is not None:
            # Shielded: the process that was started must end first, even if this is cancelled too
            with anyio.CancelScope(shield=True):
                await asyncio.wait({self._task})

    # --- connecting -------------------------------------------------------------------

    @property
    def seconds_used(self) -> float:
        """The seconds spent on connecting, without the time in which the user was asked."""
        return anyio.current_time() - self._began - self.connection.waited

    async def connected(self, greet: Greet) -> Connection:
        """Connect, call *greet* with the new connection, and return the connection.

        Raises:
            Exception: Any error of the transport or the SDK. Use `explained` to convert it to a
                message for the user.
        """
        # The first import takes seconds, which must not count for the server
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
                # The program may have been replaced since
                older_only_servers.discard(identity)
                if self.seconds_used >= self._seconds:
                    raise
        inbox.ignores_newer = False
        try:
            connection = await self._try(entry, self.requested_mode, greet)
        except Exception as error:
            # Some programs exit at the first request of the newer protocol
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
            # No process is left behind, even if this was cancelled
            with anyio.CancelScope(shield=True):
                await connection.close()
            raise
        return connection

    # --- explaining a failure ---------------------------------------------------------

    def failed_at(self, error: Exception) -> str:
        """Return the name of the step in which connecting failed with *error*.

        The names are those that `%mcp doctor` shows. Do not call this for the replay of a
        recording: a replay does not have these steps.
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
        """Return an error message with advice for *error*, which ended the attempt."""
        name = self._inbox.server
        heading = f"Server {name!r} did not connect: "
        if isinstance(error, ServerError):
            # The error is about the entry itself
            heading = f"Server {name!r}: "
        elif isinstance(root_of(error), RecordedFailureError):
            # The recorded error has a heading already
            return str(root_of(error))
        return f"{self._inbox.safe_text(heading)}{self.reason(error)}"

    def reason(self, error: Exception) -> str:
        """Return the message of `explained` without the name of the server."""
        if isinstance(error, ServerError):
            return self._inbox.safe_text(str(error))
        reason = self._advice(root_of(error)) or sentence(error, call=self._call)
        if lost_connection(error) and self.connection.exit_code is not None:
            reason = "its process ended before it had answered"
        return str(self.connection.broken(ended(reason)))

    def _advice(self, root: BaseException) -> str:
        """Return advice if the server is slow or unreachable; empty if the cause is unknown."""
        entry = self._entry
        if self._call.http_failure is not None:
            return ""
        is_silent = not (self._inbox.noise_count or self.connection.unfinished_line)
        if isinstance(root, CallTimeoutError) and is_silent:
            return f"{root}.{slowness_advice(entry.command, self._seconds)}"
        if not entry.url:
            return ""
        return network_advice(entry.url, type(root).__name__, str(root))
