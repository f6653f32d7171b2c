"""Wait for a tool call that a server runs as a task, until the task ends or is cancelled.

The run that started a task lasts until the task ends, and cancelling the run cancels the task.
Source: SEP-2663, the tasks of MCP 2026-07-28.
"""

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Self

import anyio
from anyio import CancelScope, get_cancelled_exc_class

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.elicitation import OnProgress
from toolbench.mcp.errors import (
    BrokenError,
    CallFailedError,
    CallStoppedError,
    call_failed,
    code_of,
    sentence,
)
from toolbench.network import PASSING_STATUSES, error_kind
from toolbench.values import clip

_ENDED = frozenset({"completed", "failed", "cancelled"})
_STATES = _ENDED | {"working", "input_required"}
FIRST_PAUSE = 0.05
"""Seconds before the first request for the state; pauses double unless the server sets them."""
# The most seconds between two requests for the state if the server names no interval
_ASKING = 1.0
# The fewest and the most seconds between two requests, whatever the server asks for
_SHORTEST, _LONGEST = 0.05, 600.0
# Seconds to wait for the answer to a request about a task
_ANSWER = 60.0
# Seconds before a request without an answer is repeated
_AGAIN = (0.5, 2.0, 5.0)
# Seconds to wait for the answer to a cancellation
_CANCEL = 5.0
# Error codes for an unknown task
_UNKNOWN = frozenset({-32602, -32002})
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskState:
    """The state of one task, as the server sent it."""

    id: str
    status: str
    """`working`, `input_required`, `completed`, `failed` or `cancelled`."""
    message: str
    """The server's message about the state; it may be empty."""
    interval: float | None
    """The seconds that the server wants between requests for the state; None if not stated."""
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        """Return the state of the task that *raw*, a message of the server, describes.

        Raises:
            CallFailedError: If the task has no id, or MCP does not define its state. It would then
                be impossible to find out when the task ends.
        """
        identity, status = raw.get("taskId"), raw.get("status")
        if not isinstance(identity, str) or not identity:
            msg = f"The server started a task without a taskId: {clip(dict(raw), 200)}."
            raise CallFailedError(msg)
        if not isinstance(status, str):
            msg = f"The server gave task {clip(identity)} no state: {clip(dict(raw), 200)}."
            raise CallFailedError(msg)
        if status not in _STATES:
            msg = f"The server gave task {clip(identity)} the state {clip(status)}, which is not one of MCP."
            raise CallFailedError(msg)
        message = raw.get("statusMessage")
        if not isinstance(message, str):
            message = ""
        return cls(identity, status, message, _seconds(raw.get("pollIntervalMs")), raw)

    @property
    def has_ended(self) -> bool:
        """Whether the task has ended and can no longer change."""
        return self.status in _ENDED

    @property
    def pause(self) -> float:
        """The maximum pause in seconds before the next request for the state."""
        return min(max(self.interval or _ASKING, _SHORTEST), _LONGEST)

    @property
    def words(self) -> str:
        """The state in a few words, for the panel of the run."""
        status = self.status
        if status == "input_required":
            status = "waits for an answer"
        parts = [f"task {status}", self.message]
        if self.interval is not None and not self.has_ended:
            parts.append(f"asked every {self.pause:.3g} s")
        elif not self.has_ended:
            parts.append(f"asked at least every {self.pause:.3g} s")
        return " · ".join(filter(None, parts))


def _seconds(milliseconds: Any) -> float | None:
    """Convert *milliseconds* to seconds; None unless it is a positive number."""
    if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool):
        return None
    try:
        seconds = float(milliseconds) / 1000
    except OverflowError:
        # JSON numbers have no upper limit
        return None
    if isfinite(seconds) and seconds > 0:
        return seconds
    return None


def refuse_older_task(tool: Mapping[str, Any], server: str) -> None:
    """Refuse to call *tool* if it can only run as a task of MCP 2025-11-25.

    Raises:
        CallFailedError: If *tool* requires such tasks, which toolbench does not support.
    """
    execution = tool.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        msg = (
            f"The tool runs only as a task of MCP 2025-11-25, which toolbench does not follow: the "
            f"call was not sent. Tasks need a server that speaks 2026-07-28; {server!r} does not."
        )
        raise CallFailedError(msg)


@dataclass
class MCPTask:
    """A task that a call from this kernel started, in its last known state."""

    id: str
    tool: str
    """The tool whose call became the task."""
    status: str
    """`working`, `input_required`, `completed`, `failed` or `cancelled`."""
    message: str
    """The server's message about the state; it may be empty."""


async def task_result(
    raw: dict[str, Any],
    call: Call,
    connection: ReconnectingConnection,
    tasks: "deque[MCPTask]",
) -> dict[str, Any]:
    """Wait for the end of a task, and return its result.

    *raw* is the server's answer to *call*, which describes the task. The task is added to *tasks*.
    Await this in the background loop.

    Raises:
        CallFailedError: If there is no result, for any reason.
    """
    followed = _FollowedTask(TaskState.of(raw), call, connection)
    tasks.append(followed.task)
    try:
        return await followed.result()
    except CallFailedError:
        raise
    except Exception as error:
        # An error of the SDK or the network
        raise call_failed(error, call, connection.inbox) from error


class _FollowedTask:
    """One task, followed from its start to its end; the methods run in the background loop."""

    def __init__(self, state: TaskState, call: Call, connection: ReconnectingConnection) -> None:
        """Prepare to follow the task that *call* started, beginning with *state*."""
        self._state = state
        self._call = call
        self._connection = connection
        self._answered = set[str]()
        self._progress: tuple[float, float | None, str] = (0.0, None, "")
        self._is_closed = anyio.Event()
        self.task = MCPTask(self._safe(state.id), call.tool or "", state.status, "")
        """What the user sees of the task."""

    async def result(self) -> dict[str, Any]:
        """Wait for the task to end, and return its result.

        There is no time limit, because a task may take hours. If this coroutine is cancelled, the
        task is cancelled at the server too.

        Raises:
            CallStoppedError: If the server cancelled the task.
            CallFailedError: If the task failed, or the server no longer knows it.
            Exception: Any error of the connection. Use `errors.sentence` to convert it to a message
                for the user.
        """
        call, report = self._call, self._call.on_progress
        call.seconds = inf
        call.on_close = self._is_closed.set
        if report is not None:
            call.on_progress = self._note_progress(report)
        try:
            # Under its old token, which the server uses for progress and questions
            with self._connection.inbox.calls.reopen(call), call.limited():
                return await self._follow()
        except get_cancelled_exc_class():
            await self._cancel()
            raise
        finally:
            call.on_progress = report

    async def _follow(self) -> dict[str, Any]:
        pause = FIRST_PAUSE
        while not self._state.has_ended:
            self._show()
            if self._state.status == "input_required" and await self._answer_questions():
                pause = max(FIRST_PAUSE, self._state.interval or 0.0)
            # Disconnecting ends a long pause; the request after it then tells why
            with anyio.move_on_after(min(pause, self._state.pause)):
                await self._is_closed.wait()
            self._state = await self._present_state()
            pause *= 2
            if self._state.interval is not None:
                pause = self._state.pause
        self._show()
        return self._outcome()

    async def _present_state(self) -> TaskState:
        try:
            return TaskState.of(await self._request("tasks/get"))
        except CallFailedError:
            raise
        except Exception as error:
            code = code_of(error)
            # Only an error from the server ends the task
            if code is None or _is_passing(error):
                raise
            verb = "give the state of"
            if code in _UNKNOWN:
                verb = "know"
            why = ended(sentence(error))
            text = f"The server does not {verb} task {self._state.id[:60]!r}: {why}"
            raise CallFailedError(self._safe(text)) from error

    def _outcome(self) -> dict[str, Any]:
        """Return the result of the ended task."""
        state = self._state
        result, error = state.raw.get("result"), state.raw.get("error")
        if state.status == "cancelled":
            text = f"The task was cancelled at the server. {state.message}"
            raise CallStoppedError(self._safe(text).strip())
        if state.status == "failed" and isinstance(error, Mapping):
            raise self._failed(error)
        if state.status == "failed" and not isinstance(result, Mapping):
            raise self._failed({})
        if not isinstance(result, Mapping):
            msg = f"Task {state.id[:60]!r} is completed, but the server sent no result."
            raise CallFailedError(self._safe(msg))
        if state.status == "failed":
            return {**result, "isError": True}
        return dict(result)

    def _failed(self, error: Mapping[str, Any]) -> CallFailedError:
        message = str(error.get("message") or self._state.message or "it does not say why")
        text = f"The task failed: {message.rstrip('.')}"
        if error.get("code") is not None:
            text += f" (MCP error {error['code']})"
        return CallFailedError(self._safe(f"{text}."))

    # --- cancel -------------------------------------------------------------------

    async def _cancel(self) -> None:
        """Cancel the task at the server, without raising errors because the server may be gone."""
        if portal.is_closing:
            # No more requests can be sent; the server ends the task after its `ttlMs`
            return
        # Shielded, because the run is already cancelled; closing the connection waits for this
        with CancelScope(shield=True), self._connection.last_request():
            try:
                await self._send("tasks/cancel", Call(_CANCEL, tool=self._call.tool))
                self.task.status = "cancelled"
            except Exception as error:  # noqa: BLE001 - see above
                why = f"The task was not cancelled: {ended(sentence(error))}"
                _log.info("%s", self._safe(why))

    # --- questions ----------------------------------------------------------------

    async def _answer_questions(self) -> bool:
        """Answer the new questions of the task; tell whether there were any."""
        requests = self._state.raw.get("inputRequests")
        if not isinstance(requests, Mapping):
            return False
        new = {key: one for key, one in requests.items() if key not in self._answered}
        if not new:
            return False
        questions = {"resultType": "input_required", "inputRequests": new}
        connection = await self._connection.live()
        try:
            answers = await connection.session.answers_to(questions)
            if answers is None:
                msg = f"Task {self._state.id[:60]!r} asks something that is not a question of MCP."
                raise CallFailedError(self._safe(msg))
        except Exception:
            # Without an answer the task would wait forever
            await self._cancel()
            raise
        await self._request("tasks/update", **answers)
        self._answered.update(new)
        return True

    # --- the wire -----------------------------------------------------------------

    async def _request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request about the task; repeat it after a temporary failure."""
        for pause in (*_AGAIN, None):
            call = Call(_ANSWER, tool=self._call.tool, answerer=self._call.answerer)
            try:
                return await self._send(method, call, **params)
            except Exception as error:
                # The libraries below raise many kinds; `_is_passing` knows which are temporary
                if pause is None or self._connection.status == "closed" or not _is_passing(error):
                    raise
                await anyio.sleep(pause)
        raise AssertionError

    async def _send(self, method: str, call: Call, **params: Any) -> dict[str, Any]:
        try:
            task = {"taskId": self._state.id}
            return await self._connection.request(method, {**task, **params}, call)
        except Exception as error:
            # A temporary HTTP failure becomes a ServerError
            failure = call.http_failure
            if failure is None or failure.status not in PASSING_STATUSES:
                raise
            raise ServerError(sentence(error, call=call)) from error

    # --- what the user sees -------------------------------------------------------

    def _note_progress(self, report: OnProgress) -> OnProgress:
        """Return a progress handler that also reports the state of the task."""

        def note(value: float, total: float | None, message: str) -> None:
            self._progress = (value, total, message)
            words = self._connection.inbox.redactor.text(self._state.words)
            report(value, total, " · ".join(filter(None, (message, words))))

        return note

    def _show(self) -> None:
        """Report the state of the task together with the last progress of the tool."""
        self.task.status = self._state.status
        self.task.message = self._safe(self._state.message)
        report = self._call.on_progress
        if report is None:
            return
        try:
            report(*self._progress)
        except Exception:  # noqa: BLE001 - the user's own function: the call goes on
            _log.exception("The progress handler failed; it is not called again.")
            self._call.on_progress = None

    def _safe(self, text: str) -> str:
        return self._connection.inbox.safe_text(text)


def _is_passing(error: BaseException) -> bool:
    """Tell whether *error* is temporary, so that the same request may succeed later."""
    if isinstance(error, BrokenError | ServerError | CallTimeoutError | TimeoutError):
        return True
    return error_kind(error) == "network"
