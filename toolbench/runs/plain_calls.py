"""Record direct calls of tools, `tool(action)` and `await tool.acall(action)`, as runs."""

from asyncio import create_task, get_running_loop, sleep
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition, hooks
from toolbench.core.tool_advice import warn_of_earlier_class
from toolbench.runs.control import RunCancelled, stop
from toolbench.runs.page import outcome_of
from toolbench.runs.perform import execute, perform
from toolbench.runs.progress import EVERY, ProgressView
from toolbench.runs.run import Run, run_here
from toolbench.runs.secret_question import secrets_for
from toolbench.threads import have_threads

# Frames up to the cell: it calls `tool(...)`, which calls a function of this module
_CALLER = 3


def record_calls() -> None:
    """Record every direct call `tool(...)` from now on, as `%load_ext toolbench` does."""
    hooks.around, hooks.around_async = _recorded, _recorded_async


def forget_calls() -> None:
    """Stop recording direct calls."""
    hooks.around = hooks.around_async = None


def _recorded(tool: ToolDefinition[Any, Any], call: Any, conversation: Any) -> Observation:
    """Run and record a direct call `tool(...)`; raise the error of the tool if there is one."""
    # IPython leaves out such frames
    __tracebackhide__ = True
    warn_of_earlier_class(tool, stacklevel=_CALLER)
    return perform(run_here(tool, call, conversation=conversation, is_plain=True))


async def _recorded_async(
    tool: ToolDefinition[Any, Any], call: Any, conversation: Any
) -> Observation:
    """Run and record an awaited call `tool.acall(...)`.

    If the tool is `async`, the caller's event loop executes it. A thread does everything else.
    """
    __tracebackhide__ = True
    from anyio import (  # noqa: PLC0415 - asyncio, only for what is async
        CancelScope,
        from_thread,
        to_thread,
    )

    warn_of_earlier_class(tool, stacklevel=_CALLER)
    run = run_here(tool, call, conversation=conversation, is_plain=True)
    if not have_threads():
        work: Callable[[Run], Observation] = execute
        if tool.is_async:
            work = await outcome_of(run)
        return perform(run, work=work)
    _ask_for_secrets(run)
    scope = CancelScope()
    run.on_cancel(partial(get_running_loop().call_soon_threadsafe, scope.cancel))

    async def executed() -> Observation | None:
        __tracebackhide__ = True
        with scope:
            observation: Observation = await run.tool.execute_async(
                run.action, conversation, redactor=run.secrets.redactor
            )
            return observation
        return None

    def execute_at_home(_: Run) -> Observation:
        __tracebackhide__ = True
        observation = from_thread.run(executed)
        if observation is None:
            raise RunCancelled
        return observation

    carry_out = partial(perform, run)
    if tool.is_async or hasattr(tool.executor, "acall"):
        carry_out = partial(perform, run, work=execute_at_home)
    drawing = None
    if run.progress_view.drawer is not None:
        drawing = create_task(_drawing(run.progress_view))
    try:
        return await to_thread.run_sync(carry_out, abandon_on_cancel=True)
    except BaseException:
        # Even if only the caller is cancelled: cancel the run too
        stop(run)
        raise
    finally:
        if drawing is not None:
            drawing.cancel()


def _ask_for_secrets(run: Run) -> None:
    """Ask for the secrets of *run* in the cell's thread, because other threads cannot ask."""
    if run.tool.secrets:
        # `perform` gets the same error, and records it
        with suppress(Exception):
            run.build()
            secrets_for(run)


async def _drawing(progress: ProgressView) -> None:
    """Redraw the shown *progress* regularly, in the thread of the cell."""
    try:
        while True:
            await sleep(EVERY)
            progress.draw()
    finally:
        progress.erase()
