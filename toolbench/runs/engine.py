"""Run a tool: here and now, or in a thread of its own; either way it is recorded."""

import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, Thread, Timer
from typing import Any

from toolbench.core.registry import resolve_tool
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition, calls
from toolbench.errors import ArgumentsError, ToolbenchError
from toolbench.runs.cancel import cancel
from toolbench.runs.capture import captured
from toolbench.runs.current import enter
from toolbench.runs.history import history
from toolbench.runs.interrupt import watch_interrupts
from toolbench.runs.policy import policy
from toolbench.runs.questions import ask_in_cell
from toolbench.runs.record import RunRecord
from toolbench.runs.run import Run, RunCancelled


class _Active:
    """The background runs that are going on, and their threads."""

    def __init__(self) -> None:
        self._threads: dict[Run, Thread] = {}
        self._lock = Lock()

    def add(self, run: Run, thread: Thread) -> None:
        with self._lock:
            self._threads[run] = thread

    def remove(self, run: Run) -> None:
        with self._lock:
            self._threads.pop(run, None)

    def __iter__(self) -> Any:
        with self._lock:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)

    def thread(self, run: Run) -> Thread | None:
        return self._threads.get(run)


active = _Active()


def run_tool(
    tool: ToolDefinition[Any, Any] | str,
    arguments: Mapping[str, Any] | None = None,
    /,
    **kwargs: Any,
) -> Observation:
    """Run *tool* and return its observation; the run is recorded in `history()`.

    Args:
        tool: The tool, or the name it is registered under.
        arguments: Its arguments, as a model sends them.
        **kwargs: More of them.

    Returns:
        What the tool observed. Arguments that do not fit, and an executor that raises, give
        an observation with `is_error=True` that says what to do about it.

    Raises:
        ToolNotFoundError: If no tool is registered under that name.
        NotImplementedError: If the tool has no executor.
        ToolbenchError: If the name stands for several tools.
    """
    if isinstance(tool, str):
        found = resolve_tool(tool)
        if len(found) != 1:
            names = ", ".join(t.name for t in found)
            msg = f"{tool!r} makes {len(found)} tools ({names}): pass the one you mean."
            raise ToolbenchError(msg)
        tool = found[0]
    tool.as_executable()
    run = Run(tool, {**(arguments or {}), **kwargs}, source="python", asker=ask_in_cell)
    return perform(run)


def perform(
    run: Run,
    *,
    confirm: bool = False,
    execute: Callable[[], Observation] | None = None,
) -> Observation:
    """Carry *run* out in this thread, record it, and return the observation.

    A tool that fails gives an error observation; KeyboardInterrupt is passed on.

    Args:
        run: The run.
        confirm: Ask first where the policy wants it.
        execute: Does the work, if not the tool as it is.
    """
    go_back = enter(run)
    run.enter("running")
    try:
        refusal = policy.check(run) if confirm else None
        if refusal is None:
            run.observation = (execute or _executing(run))()
            run.enter("cancelled" if run.cancelled else "ok")
        else:
            run.observation = Observation.from_text(refusal, is_error=True)
            run.enter("denied")
        if run.observation.is_error:
            run.state = "error" if run.state == "ok" else run.state
    except ArgumentsError as error:
        run.problems = error.problems
        run.observation = Observation.from_text(str(error), is_error=True)
        run.enter("error")
    except RunCancelled:
        _cancelled(run)
    except KeyboardInterrupt:
        _cancelled(run)
        raise
    except Exception as error:  # noqa: BLE001 - a tool may raise anything: the model is told
        if run.cancelled:
            _cancelled(run)
        else:
            run.traceback = _traceback(error)
            run.observation = Observation.from_text(_sentence(error), is_error=True)
            run.enter("error")
    finally:
        go_back()
        history().add(RunRecord.of(run))
        run.done.set()
        run.changed()
    return run.observation or Observation()


def start(run: Run, *, timeout: float | None = None, confirm: bool = False) -> Thread:
    """Carry *run* out in a daemon thread of its own, and return that.

    Args:
        run: The run.
        timeout: Seconds after which it is cancelled.
        confirm: Ask first where the policy wants it.
    """
    timer = None
    if timeout is not None:
        late = f"timed out after {timeout:g} s"
        timer = Timer(timeout, stop, (run, late))
        timer.daemon = True

    def body() -> None:
        try:
            with (
                captured(run),
                suppress(RunCancelled),
            ):  # injected, but the run was over
                perform(run, confirm=confirm)
        finally:
            if timer is not None:
                timer.cancel()
            active.remove(run)
            watch_interrupts(active, stop)

    thread = Thread(
        target=copy_context().run,
        args=(body,),
        name=f"toolbench-run-{run.id}",
        daemon=True,
    )
    run.enter("running")
    active.add(run, thread)
    watch_interrupts(active, stop)
    thread.start()
    if timer is not None:
        timer.start()
    return thread


def stop(run: Run, reason: str = "cancelled") -> None:
    """Have *run* stop, wherever it runs; see `cancel`."""
    cancel(run, active.thread(run), reason)


def record_calls() -> None:
    """Record every `tool(action)` from now on, as `%load_ext toolbench` does."""
    calls.around = _recorded


def forget_calls() -> None:
    """Stop recording plain calls."""
    calls.around = None


def _recorded(
    tool: ToolDefinition[Any, Any], action: Any, conversation: Any
) -> Observation:
    """Run a plain call: the same run and record, but what the tool raises is raised."""
    arguments = action.to_arguments() if hasattr(action, "to_arguments") else action
    given = arguments if isinstance(arguments, Mapping) else {}
    run = Run(
        tool, given, source="python", asker=ask_in_cell, conversation=conversation
    )
    raised: list[BaseException] = []

    def execute() -> Any:
        try:
            return tool.execute(action, conversation)
        except BaseException as error:
            raised.append(error)
            raise

    observation = perform(run, execute=execute)
    if raised:
        raise raised[0]
    return observation


def _executing(run: Run) -> Callable[[], Observation]:
    def execute() -> Any:
        tool = run.tool
        take = tool.unchecked_action if run.unchecked else tool.action_from_arguments
        run.action = take(run.arguments)
        return tool.execute(run.action, run.conversation)

    return execute


def _cancelled(run: Run) -> None:
    reason = run.reason or "interrupted"
    run.observation = Observation.from_text(f"The run was {reason}.", is_error=True)
    run.enter("cancelled")


def _sentence(error: BaseException) -> str:
    said = str(error).strip()
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__}."


def _traceback(error: BaseException) -> str:
    """The traceback from the tool's own code on: ours is of no use to anybody."""
    trace = error.__traceback__
    while trace is not None and "/toolbench/" in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))
