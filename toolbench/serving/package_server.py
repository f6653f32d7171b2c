"""Serve the tools of a package over stdio: `stdio_server`."""

from asyncio import get_running_loop
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import current_thread
from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import MissingExtraError
from toolbench.runs.control import RunCancelled
from toolbench.runs.current_run import run_of_code
from toolbench.runs.perform import execute
from toolbench.runs.questions import Question
from toolbench.runs.run import Run
from toolbench.serving.call import ServedCall
from toolbench.serving.offer import Offer
from toolbench.threads import daemon_thread


def stdio_server(tools: Any, *, name: str) -> Any:
    """Return a FastMCP server of *tools*. Its `run()` serves over stdio until the client ends it.

    An exported package uses this server. Like `serve`, it sends output schemas, progress, log lines
    and questions to the client. The user of this machine is never asked. One thread creates the
    tools and runs all tools that are not `async`, one call after another. Tools can therefore use
    objects that work only in the thread that created them, such as SQLite connections.

    Args:
        tools: A function that returns the tools, or anything else that `serve` accepts.
        name: The name that clients use for the server.

    Raises:
        MissingExtraError: If the optional dependency `jupyter-toolbench[serve]` is not installed.
        RegistrationError: If an item of *tools* is not a tool, or two tools have the same name.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.serving import stdio_server
        >>> @tool
        ... def greet(name: str) -> str:
        ...     "Greet a guest."
        ...     return f"Welcome, {name}!"
        >>> server = stdio_server(greet, name="reception")
        >>> server.run()  # doctest: +SKIP
    """
    try:
        from toolbench.serving.mcp_server import (  # noqa: PLC0415 - FastMCP takes seconds
            fastmcp_server,
        )
    except ImportError as error:
        extra = "serve"
        raise MissingExtraError(extra) from error
    worker = _Worker()
    offer: Offer = worker.call(partial(Offer, tools))

    def work(run: Run) -> Observation:
        if run.tool.is_async:
            return execute(run)
        observation: Observation = worker.call(partial(copy_context().run, _executed_here, run))
        return observation

    def begin(
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        client: str,
        can_ask: Callable[[Question], bool],
    ) -> ServedCall:
        call = ServedCall(
            tool,
            arguments,
            client=client,
            answer_within=0,
            loop=get_running_loop(),
            asks_client=can_ask,
            execute=work,
        )
        call.begin(confirm=False)
        return call

    return fastmcp_server(offer, begin, name=name)


class _Worker:
    """A daemon thread that makes the calls given to it, one after another."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        daemon_thread(self._make_calls, name="toolbench-tools").start()

    def call(self, function: Callable[[], Any]) -> Any:
        """Call *function* in the thread; return its result or raise its error."""
        result: Future[Any] = Future()
        self._calls.put((function, result))
        return result.result()

    def _make_calls(self) -> None:
        while True:
            function, result = self._calls.get()
            try:
                result.set_result(function())
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                result.set_exception(error)


def _executed_here(run: Run) -> Observation:
    """Execute the tool of *run* in this thread, and stop it if *run* is cancelled."""
    if run.cancelled:
        raise RunCancelled
    run_of_code.hand_down(current_thread())
    return run.control.work.carry_out(partial(execute, run))
