"""Call a server's tool: waiting, awaited, or from a button; stopping it tells the server."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from inspect import iscoroutinefunction
from threading import Lock
from typing import Any, Literal, Protocol

from toolbench.core.background_loop import portal
from toolbench.core.executor import ToolExecutor
from toolbench.core.state import secrets_of
from toolbench.jsonschema.validation.validator import SchemaValidator, validator_of
from toolbench.mcp.config.placeholders import with_secrets
from toolbench.mcp.connection.blocking_wait import BlockingWait
from toolbench.mcp.connection.failure_messages import CallFailedError
from toolbench.mcp.definition import MCPToolAction
from toolbench.mcp.elicitation import (
    Answerer,
    OnProgress,
    ask_here,
    current_answerer,
    current_on_progress,
)
from toolbench.mcp.results import (
    MCPToolObservation,
    failed_observation,
    stopped_observation,
    tool_observation,
    with_way_back,
)
from toolbench.network_errors import error_kind
from toolbench.redaction.redactor import Redactor
from toolbench.runs.current_run import active_run
from toolbench.runs.run import Run

_CANCELLED = "The call was cancelled, and the server was told."


class Caller(Protocol):
    """What sends a call to its server."""

    name: str
    """What the server is called here."""
    server_info: dict[str, Any]
    """What the server says it is: `name`, `version`, `title`."""
    answerer: Answerer | None
    """Who answers the server's questions where no handler is named here."""

    @property
    def era(self) -> Literal["modern", "legacy"] | None:
        """Which of the two protocols is spoken."""

    def keep_secret(self, secrets: Iterable[str]) -> Redactor:
        """Show *secrets* nowhere in what is kept of the traffic; return what hides all of them."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        """Return the result as the server sent it; raise a `CallFailedError` without one."""


class _Stop:
    """Stops one call, also if that is wanted a moment before it is known how."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cancel: Callable[[], object] | None = None
        self._is_wanted = False

    def by(self, cancel: Callable[[], object]) -> None:
        """Learn that *cancel* stops the call."""
        with self._lock:
            self._cancel = cancel
        if self._is_wanted:
            cancel()

    def __call__(self) -> None:
        """Stop the call."""
        with self._lock:
            self._is_wanted, cancel = True, self._cancel
        if cancel is not None:
            cancel()


class MCPToolExecutor(ToolExecutor[MCPToolAction, MCPToolObservation]):
    """Sends calls of one tool to its server and waits for their results.

    A call that fails, for whatever reason outside of this program, returns an observation
    with `is_error=True`. Source: OpenHands SDK, `MCPToolExecutor`.
    """

    knows_conversations = True
    """It is called with `(action, conversation)`: its signature need not be inspected."""

    def __init__(self, caller: Caller, tool: str, output_schema: Any = None) -> None:
        """Call *tool*, by its server's name for it, through *caller*."""
        self._caller = caller
        self._tool = tool
        self._output_schema = output_schema
        self._running: set[_Stop] = set()

    @property
    def caller(self) -> Caller:
        """What sends the calls: the session of the server."""
        return self._caller

    def __call__(
        self, action: MCPToolAction, conversation: Any = None
    ) -> MCPToolObservation:
        """Call the tool and wait; questions of the server are answered meanwhile, right here.

        `${NAME}` in an argument stands for the secret of that name in *conversation*.
        Interrupting the wait cancels the call.
        """
        self._keep_secrets_of(conversation)
        answerer = self._answerer()
        waiting = BlockingWait[MCPToolObservation](answerer)
        ask = answerer if iscoroutinefunction(answerer) else waiting.ask
        call, loop = self._calling(action, conversation, ask), portal.loop
        with self._interruptible() as stop:
            stop.by(partial(waiting.cancel, loop))
            try:
                return waiting.run(call, loop)
            except asyncio.CancelledError:
                return stopped_observation(self._tool, _CANCELLED)

    async def acall(
        self, action: MCPToolAction, conversation: Any = None
    ) -> MCPToolObservation:
        """Call the tool without blocking the running loop. Cancelling it cancels the call."""
        self._keep_secrets_of(conversation)
        call = self._calling(action, conversation, self._answerer())
        loop, background = asyncio.get_running_loop(), portal.loop
        waited: asyncio.Future[MCPToolObservation]
        with self._interruptible() as stop:
            if loop is background:
                waited = asyncio.ensure_future(call())
            else:
                sent = asyncio.run_coroutine_threadsafe(call(), background)
                waited = asyncio.wrap_future(sent)
            stop.by(partial(loop.call_soon_threadsafe, waited.cancel))
            try:
                return await waited
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return stopped_observation(self._tool, _CANCELLED)

    def interrupt(self) -> None:
        """Cancel the calls under way, from any thread, also at the server."""
        for stop in list(self._running):
            stop()

    def _keep_secrets_of(self, conversation: Any) -> None:
        """Keep those of the run this call is part of too: it may hand them on.

        And have the run hide what the server may say: the secrets of all its calls.
        """
        secrets, run = secrets_of(conversation), active_run()
        if secrets:
            self._caller.keep_secret(secrets.redactor.secrets)
        if isinstance(run, Run):
            run.secrets.include(self._caller.keep_secret(run.secrets.own.secrets))

    def _answerer(self) -> Answerer:
        return current_answerer() or self._caller.answerer or ask_here

    @contextmanager
    def _interruptible(self) -> Iterator["_Stop"]:
        stop = _Stop()
        self._running.add(stop)
        try:
            yield stop
        finally:
            self._running.discard(stop)

    def _calling(
        self, action: MCPToolAction, conversation: Any, answerer: Answerer
    ) -> Callable[[], Coroutine[Any, Any, MCPToolObservation]]:
        """Return the call as a coroutine function, with what is known in this thread."""
        secrets = secrets_of(conversation)
        arguments = with_secrets(action.data, secrets) if secrets else action.data
        return partial(
            self._call,
            arguments,
            on_progress=current_on_progress(),
            answerer=answerer,
            run=active_run(),
        )

    async def _call(
        self,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None,
        answerer: Answerer,
        run: Any,
    ) -> MCPToolObservation:
        try:
            result = await self._caller.call_tool(
                self._tool, arguments, on_progress=on_progress, answerer=answerer
            )
        except CallFailedError as error:
            if isinstance(run, Run):
                run.error_kind = error_kind(error)
            observation = failed_observation(self._tool, str(error), error.asides)
        else:
            observation = tool_observation(self._tool, result, self._promise)
        modern = observation.is_error and self._caller.era == "modern"
        return with_way_back(observation, self._caller.name) if modern else observation

    @cached_property
    def _promise(self) -> SchemaValidator | None:
        schema = self._output_schema
        return None if schema is None else validator_of(schema)
