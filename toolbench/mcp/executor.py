"""Call a server's tool, blocking or awaited. If the call is cancelled, the server is told."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from inspect import iscoroutinefunction
from typing import Any, Literal, Protocol

from toolbench.core.background_loop import portal
from toolbench.core.executor import ToolExecutor
from toolbench.core.state import secrets_of
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.config.placeholders import with_secrets
from toolbench.mcp.definition import MCPToolAction
from toolbench.mcp.elicitation import (
    Answerer,
    OnProgress,
    ask_here,
    current_answerer,
    current_on_progress,
    desk_here,
)
from toolbench.mcp.errors import (
    CallFailedError,
    CallStoppedError,
)
from toolbench.mcp.results import (
    MCPToolObservation,
    failed_observation,
    stopped_observation,
    tool_observation,
    with_way_back,
)
from toolbench.network import error_kind
from toolbench.redaction.redactor import WORD, Redactor
from toolbench.runs.control import CancelToken
from toolbench.runs.current_run import active_run
from toolbench.runs.run import Run

_CANCELLED = "The call was cancelled, also at the server."


class Caller(Protocol):
    """The protocol of objects that send calls to a server, such as sessions."""

    name: str
    """The name that the server has in this client."""
    server_info: dict[str, Any]
    """The server's description of itself: `name`, `version`, `title`."""
    answerer: Answerer | None
    """Answers the server's questions outside of `answering`."""
    notices: list[str]
    """Notes for the person and the model; they are moved to the next result."""

    @property
    def remarks(self) -> list[str]:
        """Such notes for the person only."""

    @property
    def era(self) -> Literal["modern", "legacy"] | None:
        """The protocol of the connection; None before it is known."""

    def keep_secret(self, secrets: Iterable[str]) -> Redactor:
        """Hide *secrets* in what the session keeps of its messages; return a redactor of all secrets."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        """Call the tool *name*; return the result as the server sent it.

        Raises:
            CallFailedError: If there is no result.
        """


class MCPToolExecutor(ToolExecutor[MCPToolAction, MCPToolObservation]):
    """An executor that sends the calls of one tool to its server.

    A call that fails for a reason outside of this program returns an observation with
    `is_error=True`. Source: OpenHands SDK, `MCPToolExecutor`.
    """

    knows_conversations = True
    """The executor takes `(action, conversation)`, so its signature is not inspected."""

    def __init__(self, caller: Caller, tool: str, output_schema: Any = None) -> None:
        """Call the tool that the server names *tool*, through *caller*."""
        self._caller = caller
        self._tool = tool
        self._output_schema = output_schema
        self._running: set[CancelToken] = set()

    @property
    def caller(self) -> Caller:
        """The sender of the calls: the session of the server."""
        return self._caller

    def __call__(self, action: MCPToolAction, conversation: Any = None) -> MCPToolObservation:
        """Call the tool and wait. A plain answerer answers the server's questions in this thread.

        `${NAME}` in an argument is replaced by the secret of this name in *conversation*.
        Interrupting the wait cancels the call.
        """
        self._keep_secrets_of(conversation)
        answerer = self._answerer()
        desk = desk_here(answerer)
        ask = answerer if iscoroutinefunction(answerer) else desk.ask
        call, loop = self._calling(action, conversation, ask), portal.loop
        with self._interruptible() as stop:
            stop.on_cancel(partial(desk.cancel, loop))
            try:
                return desk.serve_until(call, loop)
            except asyncio.CancelledError:
                return stopped_observation(self._tool, _CANCELLED)

    async def acall(self, action: MCPToolAction, conversation: Any = None) -> MCPToolObservation:
        """Call the tool without blocking the running loop. Cancelling the await cancels the call."""
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
            stop.on_cancel(partial(loop.call_soon_threadsafe, waited.cancel))
            try:
                return await waited
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return stopped_observation(self._tool, _CANCELLED)

    def interrupt(self) -> None:
        """Cancel the running calls, also at the server; any thread may call this."""
        for stop in list(self._running):
            stop.cancel()

    def _keep_secrets_of(self, conversation: Any) -> None:
        """Hide the secrets of the run in the session: the call may send them to the server.

        Hide the secrets of the session in the run too: the server may send them back.
        """
        secrets, run = secrets_of(conversation), active_run()
        if secrets:
            self._caller.keep_secret(secrets.redactor.secrets)
        if isinstance(run, Run):
            known = self._caller.keep_secret(run.secrets.own.secrets)
            # Short ones of other calls are hidden only in the traffic, log and stderr
            run.secrets.include(Redactor(s for s in known.secrets if len(s) >= WORD))

    def _answerer(self) -> Answerer:
        return current_answerer() or self._caller.answerer or ask_here

    @contextmanager
    def _interruptible(self) -> Iterator[CancelToken]:
        stop = CancelToken()
        self._running.add(stop)
        try:
            yield stop
        finally:
            self._running.discard(stop)

    def _calling(
        self, action: MCPToolAction, conversation: Any, answerer: Answerer
    ) -> Callable[[], Coroutine[Any, Any, MCPToolObservation]]:
        """Return a coroutine function that makes the call; the call belongs to the run of this thread."""
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
        except CallStoppedError as error:
            return stopped_observation(self._tool, str(error))
        except CallFailedError as error:
            if isinstance(run, Run):
                run.error_kind = error_kind(error)
            observation = failed_observation(self._tool, str(error), error.asides)
        else:
            observation = tool_observation(self._tool, result, self._promise)
        notices, remarks = _taken(self._caller.notices), _taken(self._caller.remarks)
        if notices or remarks:
            warnings = [*notices, *observation.warnings, *remarks]
            update = {"warnings": warnings, "lost": notices}
            observation = observation.model_copy(update=update)
        modern = observation.is_error and self._caller.era == "modern"
        return with_way_back(observation, self._caller.name) if modern else observation

    @cached_property
    def _promise(self) -> SchemaValidator | None:
        schema = self._output_schema
        return None if schema is None else validator_of(schema)


def _taken(notes: list[str]) -> list[str]:
    taken = notes[:]
    del notes[: len(taken)]
    return taken
