"""Wait for a server's answer; the waiting thread also answers the server's questions."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError
from toolbench.mcp.elicitation import Answerer, as_answer, ask_here, current_answerer
from toolbench.runs.coroutine_wait import CoroutineWait
from toolbench.runs.current_run import active_run
from toolbench.runs.run import Run

T = TypeVar("T")


class BlockingWait(CoroutineWait[T]):
    """The wait of a thread for one call of a server."""

    def __init__(self, answerer: Answerer) -> None:
        """Answer questions with *answerer*, a plain function, and draw the run's progress."""
        run = active_run()
        super().__init__(
            lambda question: as_answer(answerer(question)),
            run.drawer if isinstance(run, Run) else None,
        )


def wait_answering(
    ask: Callable[..., Coroutine[Any, Any, T]], *args: Any, answerer: Answerer | None
) -> T:
    """Run `ask(*args, answerer=...)` in the background loop, wait, and return its result.

    This thread answers questions: by the handler of `answering`, else by *answerer*, else by
    asking the person.

    Raises:
        ServerError: If the request was cancelled.
        ToolbenchError: If called from the background loop itself.
    """
    handler = current_answerer() or answerer or ask_here
    wait = BlockingWait[T](handler)
    async_handler = handler if iscoroutinefunction(handler) else wait.ask
    try:
        return wait.run(partial(ask, *args, answerer=async_handler), portal.loop)
    except asyncio.CancelledError as error:
        msg = "The request was cancelled, also at the server."
        raise ServerError(msg) from error
