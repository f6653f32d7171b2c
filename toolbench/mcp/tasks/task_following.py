"""Follow one task to its end: request its state, answer its questions, cancel it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from typing import Any, TypeVar

import anyio

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.elicitation import OnProgress
from toolbench.mcp.errors import (
    BrokenError,
    CallFailedError,
    CallStoppedError,
    code_of,
    sentence,
)
from toolbench.mcp.tasks.task_state import TaskState
from toolbench.network import PASSING_STATUSES, error_kind
from toolbench.runs.control import INTERRUPTED
from toolbench.runs.current_run import active_run
from toolbench.runs.kernel import kernel_ends
from toolbench.runs.run import Run

FIRST_PAUSE = 0.05
"""Seconds before the first request for the state. If the server names no interval, each pause doubles."""
# Seconds for the answer to a request for the state
_ASK = 60.0
# Seconds before a request without an answer is repeated
_AGAIN = (0.5, 2.0, 5.0)
# Seconds from the notification of a change to the request for the state
_NEWS = 0.05
# Seconds for the answer to a cancel
_CANCEL = 5.0
# Codes of an answer about an unknown task
_UNKNOWN = frozenset({-32602, -32002})
_log = logging.getLogger(__name__)

T = TypeVar("T")


class UnknownTaskError(CallFailedError):
    """The server does not know the task, or does not know it any more."""


class TaskFollowing:
    """Follows one task until the task ends. The methods run in the background loop."""

    def __init__(self, over: ReconnectingConnection, task: TaskState, call: Call) -> None:
        """Follow *task*, which *call* started, over the connection *over*."""
        self._over = over
        self._state = task
        self._call = call
        self._progress: tuple[float, float | None, str] = (0.0, None, "")
        self._answered: set[str] = set()
        self._result: asyncio.Task[dict[str, Any]] | None = None
        self._changed = asyncio.Event()
        self._pause = FIRST_PAUSE
        self._answered_at: float | None = None
        """The time of the last answer about the state, by the clock of the event loop."""

    async def result(self) -> dict[str, Any]:
        """Return the result of the tool. There is no time limit, because a task may take hours.

        Cancelling this coroutine also cancels the task at the server, unless the process ends.

        Raises:
            CallStoppedError: If the task was cancelled.
            CallFailedError: If the task failed, or the server does not know the task any more.
            Exception: Any error of the connection; `sentence` explains it.
        """
        call = self._call
        call.task_id, call.seconds = self._state.id, inf
        call.on_task_change = self._changed.set
        report, call.on_progress = call.on_progress, self._noting(call.on_progress)
        try:
            with self._over.inbox.calls.reopen(call), call.limited():
                return await self._to_the_end()
        except asyncio.CancelledError:
            await self._cancel_or_leave()
            raise
        finally:
            call.on_progress = report
            if self._result is not None:
                self._result.cancel()

    async def cancel(self) -> None:
        """Ask the server to cancel the task.

        Raises:
            Exception: Any error of the server or the connection.
        """
        await self._send("tasks/cancel", seconds=_CANCEL)

    async def refreshed(self) -> TaskState:
        """Return the present state of the task.

        Raises:
            UnknownTaskError: If the server does not know the task.
            CallFailedError: If the server refuses to tell the state, or the state is not valid.
            Exception: Any error of the connection.
        """
        try:
            self._state = TaskState.of(await self._send("tasks/get"))
            self._answered_at = anyio.current_time()
        except CallFailedError:
            raise
        except Exception as error:
            # Only the error of a server ends the task
            code = code_of(error)
            if code is None or _is_passing(error):
                raise
            kind = UnknownTaskError if code in _UNKNOWN else CallFailedError
            verb = "know" if kind is UnknownTaskError else "give the state of"
            why = ended(sentence(error))
            text = f"The server does not {verb} task {self._state.id[:60]!r}: {why}"
            raise kind(self._over.inbox.safe_text(text)) from error
        return self._state

    async def _cancel_or_leave(self) -> None:
        """Cancel the task at the server, or leave it for a later kernel if this kernel ends."""
        run = active_run()
        why = None
        if isinstance(run, Run):
            why = run.control.why
        with anyio.CancelScope(shield=True), self._over.last_requests.sending():
            if portal.is_closing:
                return
            if why in (None, INTERRUPTED) and await kernel_ends():
                return
            await self._cancel_quietly()

    async def _cancel_quietly(self) -> None:
        """Cancel the task at the server, even if this coroutine is cancelled. No error is raised."""
        with anyio.CancelScope(shield=True):
            try:
                await self.cancel()
            except Exception as error:  # noqa: BLE001 - the server may not be there any more
                why = f"The task was not cancelled: {ended(sentence(error))}"
                _log.info("%s", self._over.inbox.safe_text(why))

    # --- to the end ---------------------------------------------------------------

    async def _to_the_end(self) -> dict[str, Any]:
        while True:
            self._show()
            if self._state.has_ended:
                return await self._outcome()
            if self._state.status == "input_required" and await self._has_answered():
                self._pause = FIRST_PAUSE
            await self._wait(self._seconds_left())
            try:
                await self._repeated(self.refreshed)
            except UnknownTaskError:
                if self._result is None or not self._result.done():
                    raise
                # The server forgets a task with its result
                return await self._result
            if self._result is not None and self._result.done():
                return await self._outcome()

    def _seconds_left(self) -> float:
        """Return the seconds until the next request for the state.

        The first request follows the start of the task at once, as in the specification. Between
        two requests is the interval that the server names, unless the server announces a change.
        """
        if self._answered_at is None:
            return min(FIRST_PAUSE, self._state.pause)
        pause = self._state.pause
        if self._state.interval is None:
            pause = min(pause, self._pause)
            self._pause *= 2
        return max(0.0, self._answered_at + pause - anyio.current_time())

    async def _wait(self, seconds: float) -> None:
        """Wait for *seconds*, or until the server announces a change or has sent the result."""
        change = asyncio.ensure_future(self._changed.wait())
        events: list[asyncio.Future[Any]] = [change]
        # The older protocol's request for the result
        if self._result is not None:
            events.append(self._result)
        try:
            await asyncio.wait(events, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()
        if self._changed.is_set():
            self._changed.clear()
            # Many announcements cause one request
            await anyio.sleep(_NEWS)

    async def _repeated(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the result of *ask*.

        Call *ask* again if the network or the server fails for a moment.
        """
        for pause in _AGAIN:
            try:
                return await ask()
            except Exception as error:
                # An error that stays is raised
                if self._over.status == "closed" or not _is_passing(error):
                    raise
                await anyio.sleep(pause)
        return await ask()

    async def _outcome(self) -> dict[str, Any]:
        """Return the result of the task, which has ended or whose result has arrived."""
        state = self._state
        if state.status == "cancelled":
            text = f"The task was cancelled at the server. {state.message}"
            raise CallStoppedError(self._over.inbox.safe_text(text).strip())
        if state.status == "failed" and isinstance(state.raw.get("error"), Mapping):
            raise self._failed(state.raw["error"])
        result: Any = state.raw.get("result")
        if result is None and not self._is_modern:
            result = await self._older_result()
        if state.status == "failed":
            if isinstance(result, Mapping):
                return {**result, "isError": True}
            raise self._failed({"message": state.message})
        if not isinstance(result, Mapping):
            msg = f"Task {state.id[:60]!r} is completed, but the server sent no result."
            raise CallFailedError(self._over.inbox.safe_text(msg))
        return dict(result)

    async def _older_result(self) -> dict[str, Any]:
        if self._result is None:
            self._result = self._asking_for_result()
        try:
            return await self._result
        except Exception as error:
            # Only the error of a server is an answer
            code = code_of(error)
            if code is None or _is_passing(error):
                raise
            raise self._failed({"message": str(error), "code": code}) from error

    def _failed(self, error: Mapping[str, Any]) -> CallFailedError:
        message = str(error.get("message") or self._state.message or "it does not say why")
        code = f" (MCP error {error['code']})" if error.get("code") is not None else ""
        text = f"The task failed: {message.rstrip('.')}{code}."
        return CallFailedError(self._over.inbox.safe_text(text))

    # --- questions ----------------------------------------------------------------

    async def _has_answered(self) -> bool:
        """Answer the new questions of the task; return False if there is no new question.

        In the older protocol, request the result once: the server then sends its questions itself.
        """
        if not self._is_modern:
            is_new = self._result is None
            self._result = self._result or self._asking_for_result()
            return is_new
        from toolbench.mcp.tasks.task_messages import (  # noqa: PLC0415 - the SDK, loaded by now
            dumped,
            questions_of,
        )

        requests = self._state.raw.get("inputRequests")
        if not isinstance(requests, Mapping):
            requests = {}
        new = {k: v for k, v in requests.items() if k not in self._answered}
        if not new:
            return False
        connection = await self._over.live()
        try:
            answers = await connection.answers_to(questions_of(new))
        except Exception:
            # Without an answer the task would wait for ever
            await self._cancel_quietly()
            raise
        responses = dumped(answers or {})
        await self._repeated(lambda: self._send("tasks/update", inputResponses=responses))
        self._answered.update(new)
        return True

    def _asking_for_result(self) -> "asyncio.Task[dict[str, Any]]":
        return asyncio.ensure_future(
            self._repeated(lambda: self._send("tasks/result", seconds=inf))
        )

    # --- the wire -----------------------------------------------------------------

    @property
    def _is_modern(self) -> bool:
        return self._over.current.is_modern

    async def _send(self, method: str, *, seconds: float = _ASK, **params: Any) -> dict[str, Any]:
        from toolbench.mcp.tasks.task_messages import about_task  # noqa: PLC0415 - as above

        identity, parent = self._state.id, self._call
        call = Call(seconds=seconds, tool=parent.tool, answerer=parent.answerer)

        def send(session: Any, responses: Any, state: str | None) -> Any:
            return about_task(session, method, identity, **params)

        try:
            return await self._over.ask(send, call)
        except Exception as error:
            # A passing failure of HTTP becomes a ServerError
            failure = call.http_failure
            if failure is None or failure.status not in PASSING_STATUSES:
                raise
            raise ServerError(sentence(error, call=call)) from error

    # --- what the person sees -----------------------------------------------------

    def _noting(self, report: OnProgress | None) -> OnProgress | None:
        """Return a function that adds the state of the task to the progress of the tool."""
        if report is None:
            return None

        def note(value: float, total: float | None, message: str) -> None:
            self._progress = (value, total, message)
            report(value, total, self._words(message))

        return note

    def _show(self) -> None:
        """Report the state of the task, with the last progress of the tool."""
        report = self._call.on_progress
        if report is None:
            return
        try:
            report(*self._progress)
        except Exception:  # noqa: BLE001 - the person's own function: the call goes on
            _log.exception("The progress handler failed; it is not called again.")
            self._call.on_progress = None

    def _words(self, message: str) -> str:
        words = self._over.inbox.redactor.text(self._state.words)
        return " · ".join(filter(None, (message, words)))


def _is_passing(error: BaseException) -> bool:
    """Tell whether the same request may succeed later, in spite of *error*."""
    if isinstance(error, BrokenError | ServerError | CallTimeoutError | TimeoutError):
        return True
    return error_kind(error) == "network"
