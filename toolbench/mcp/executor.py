"""Call a server's tool: waiting, awaited, or from a button; stopping it tells the server."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any, Protocol

from toolbench.core.executor import ToolExecutor
from toolbench.core.portal import portal
from toolbench.mcp.definition import MCPToolAction
from toolbench.mcp.failures import sentence
from toolbench.mcp.handlers import (
    Answerer,
    OnProgress,
    current_answerer,
    current_on_progress,
)
from toolbench.mcp.results import (
    MCPToolObservation,
    failed_observation,
    tool_observation,
)

_CANCELLED = "The call was cancelled, and the server was told."


class Caller(Protocol):
    """What sends a call to its server."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        """Return the result as the server sent it."""


class MCPToolExecutor(ToolExecutor[MCPToolAction, MCPToolObservation]):
    """Sends calls of one tool to its server and waits for their results.

    A call that fails, for whatever reason outside of this program, returns an observation
    with `is_error=True`. Source: OpenHands SDK, `MCPToolExecutor`.
    """

    def __init__(self, caller: Caller, tool: str, output_schema: Any = None) -> None:
        """Call *tool*, by its server's name for it, through *caller*."""
        self._caller = caller
        self._tool = tool
        self._output_schema = output_schema
        self._running: set[Future[MCPToolObservation]] = set()

    def __call__(
        self, action: MCPToolAction, conversation: Any = None
    ) -> MCPToolObservation:
        """Call the tool and wait. Interrupting the wait cancels the call."""
        with self._started(action) as future:
            try:
                return future.result()
            except CancelledError:
                return failed_observation(self._tool, _CANCELLED)
            except BaseException:  # also KeyboardInterrupt: the server is told
                future.cancel()
                raise

    async def acall(
        self, action: MCPToolAction, conversation: Any = None
    ) -> MCPToolObservation:
        """Call the tool without blocking the running loop. Cancelling it cancels the call."""
        with self._started(action) as future:
            try:
                return await asyncio.wrap_future(future)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return failed_observation(self._tool, _CANCELLED)

    def interrupt(self) -> None:
        """Cancel the calls under way, from any thread; the server is told."""
        for future in list(self._running):
            future.cancel()

    @contextmanager
    def _started(self, action: MCPToolAction) -> Iterator[Future[MCPToolObservation]]:
        future = portal.start(
            self._call, action, current_on_progress(), current_answerer()
        )
        self._running.add(future)
        try:
            yield future
        finally:
            self._running.discard(future)

    async def _call(
        self,
        action: MCPToolAction,
        on_progress: OnProgress | None,
        answerer: Answerer | None,
    ) -> MCPToolObservation:

        try:
            result = await self._caller.call_tool(
                self._tool, action.data, on_progress=on_progress, answerer=answerer
            )
        except Exception as error:  # noqa: BLE001 - whatever the SDK and the server do
            return failed_observation(self._tool, sentence(error))
        return tool_observation(self._tool, result, self._output_schema)
