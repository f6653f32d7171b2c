"""Record plain calls of tools, `tool(action)` and `await tool.acall(action)`, as the runs they are."""

from asyncio import create_task, get_running_loop, sleep
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import SecretBytes, SecretStr

from toolbench.core.calls import calls
from toolbench.core.executor import is_async
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.runs.cancel import cancel
from toolbench.runs.engine import executing, perform, run_here
from toolbench.runs.meter import EVERY
from toolbench.runs.run import Run, RunCancelled


def record_calls() -> None:
    """Record every `tool(action)` from now on, as `%load_ext toolbench` does."""
    calls.around, calls.around_async = _recorded, _recorded_async


def forget_calls() -> None:
    """Stop recording plain calls."""
    calls.around = calls.around_async = None


def _recorded(
    tool: ToolDefinition[Any, Any], action: Any, conversation: Any
) -> Observation:
    """Run a plain call: the same run and record, but what the tool raises is raised."""
    __tracebackhide__ = True  # IPython leaves out such frames
    run = _run_of(tool, action, conversation)
    return _perform(run, executing(run, action))


async def _recorded_async(
    tool: ToolDefinition[Any, Any], action: Any, conversation: Any
) -> Observation:
    """Run an awaited call: its record is kept in a thread, its work done in the caller's loop."""
    __tracebackhide__ = True
    from anyio import (  # noqa: PLC0415 - asyncio, only for what is async
        CancelScope,
        from_thread,
        to_thread,
    )

    run, scope = _run_of(tool, action, conversation), CancelScope()
    run.on_cancel(partial(get_running_loop().call_soon_threadsafe, scope.cancel))

    async def work() -> Observation | None:
        __tracebackhide__ = True
        with scope:
            observation: Observation = await tool.execute_async(action, conversation)
            return observation
        return None

    def carry_out() -> Observation:
        __tracebackhide__ = True
        run.action = action if isinstance(action, Action) else None
        observation = from_thread.run(work)
        if observation is None:
            raise RunCancelled
        return observation

    at_home = is_async(tool.executor) or hasattr(tool.executor, "acall")
    execute = carry_out if at_home else executing(run, action)
    drawing = create_task(_drawing(run)) if run.meter is not None else None
    try:
        return await to_thread.run_sync(_perform, run, execute, abandon_on_cancel=True)
    except BaseException:  # also when the caller is cancelled: then the run is
        cancel(run)
        raise
    finally:
        if drawing is not None:
            drawing.cancel()


async def _drawing(run: Run) -> None:
    """Show again and again how far *run* is, in the cell's own thread, where nobody waits."""
    try:
        while True:
            await sleep(EVERY)
            run.show_progress()
    finally:
        run.hide_progress()


def _run_of(tool: ToolDefinition[Any, Any], action: Any, conversation: Any) -> Run:
    given = _given(action) if isinstance(action, Action) else action
    arguments = given if isinstance(given, Mapping) else {}
    return run_here(tool, arguments, conversation=conversation)


def _given(action: Action) -> dict[str, Any]:
    """The arguments of *action*, its secrets as such: the run hides them wherever they turn up."""
    secrets = {
        field.alias or name: value
        for name, field in type(action).model_fields.items()
        if isinstance(value := getattr(action, name, None), SecretStr | SecretBytes)
    }
    arguments = action.to_arguments()
    return arguments | {k: v for k, v in secrets.items() if k in arguments}


def _perform(run: Run, carry_out: Callable[[], Observation]) -> Observation:
    __tracebackhide__ = True
    raised: list[BaseException] = []

    def execute() -> Observation:
        __tracebackhide__ = True
        try:
            return carry_out()
        except BaseException as error:  # raised again for the caller, as it came
            raised.append(error)
            raise

    observation = perform(run, execute=execute)
    if raised:
        raise raised[0]
    return observation
