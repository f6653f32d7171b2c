"""Run a tool: here and now, or in a thread of its own; either way it is recorded."""

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Thread, Timer, current_thread, main_thread
from typing import Any

from toolbench.core.content import TextContent
from toolbench.core.executor import is_async
from toolbench.core.portal import portal
from toolbench.core.registry import resolve_one
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ArgumentsError, indefinite
from toolbench.runs.active import active
from toolbench.runs.cancel import cancel
from toolbench.runs.current import active_run, enter
from toolbench.runs.history import history
from toolbench.runs.interrupt import InterruptWatch
from toolbench.runs.meter import Meter
from toolbench.runs.policy import policy
from toolbench.runs.prompt import ask_in_cell
from toolbench.runs.record import RunRecord
from toolbench.runs.routing import routing
from toolbench.runs.run import Run, RunCancelled, Source
from toolbench.runs.traces import sentence_of, traceback_of
from toolbench.runs.waiting import Waiting, running_loop

watch = InterruptWatch(active)


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
        TypeError: If *arguments* are no mapping.
        ToolbenchError: If the name stands for several tools.
    """
    if isinstance(tool, str):
        tool = resolve_one(tool)
    tool.as_executable()
    given = {} if arguments is None else mapping_of(tool, arguments)
    return perform(run_here(tool, {**given, **kwargs}))


def mapping_of(tool: ToolDefinition[Any, Any], arguments: Any) -> Mapping[str, Any]:
    """Return *arguments* as they are.

    Raises:
        TypeError: If they are no mapping.
    """
    if isinstance(arguments, Mapping):
        return arguments
    given = indefinite(type(arguments).__name__)
    msg = f"{tool.name} takes a dict of its arguments, not {given}: {arguments!r}."
    raise TypeError(msg)


def run_here(
    tool: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
    source: Source = "python",
    conversation: Any = None,
) -> Run:
    """Return a run of *tool* for `perform` in this thread, part of the one it is in.

    In a cell questions go through `input()`, in another run to where that one's go.
    """
    run = Run(
        tool, arguments, source=source, asker=ask_in_cell, conversation=conversation
    )
    run.meter = Meter.here(tool.title)
    parent = active_run()
    if isinstance(parent, Run):
        run.parent, run.asker, run.desk = parent, parent.asker, parent.desk
    return run


def perform(
    run: Run,
    *,
    confirm: bool = True,
    timeout: float | None = None,
    execute: Callable[[], Observation] | None = None,
) -> Observation:
    """Carry *run* out in this thread, record it, and return the observation.

    A tool that fails gives an error observation; KeyboardInterrupt is passed on.

    Args:
        run: The run.
        confirm: Ask first where the policy wants it; plain Python calls never ask.
        timeout: Seconds after which it is cancelled.
        execute: Does the work, if not the tool as it is.
    """
    __tracebackhide__ = True  # IPython leaves out such frames
    run.begin()
    try:
        with _current(run, timeout):
            try:
                run.work.begin()
                _carry_out(run, confirm=confirm, execute=execute or executing(run))
            finally:
                run.work.end()
    except BaseException as error:  # a tool may raise anything: the model is told
        run.work.end()  # again: the first may have been struck itself
        if _ended_by(run, error):
            raise
    finally:
        try:
            history().add(RunRecord.of(run))
        finally:
            run.done.set()
            run.changed()
            run.hide_progress()
    return Observation() if run.observation is None else run.observation


@contextmanager
def _current(run: Run, timeout: float | None) -> Iterator[None]:
    """Make *run* the current one, let it obey its parent, and limit its time."""
    with ExitStack() as undo:
        undo.callback(enter(run))
        if run.parent is not None:
            undo.callback(run.parent.on_cancel(partial(active.stop, run)))
        if timeout is not None:
            timer = Timer(timeout, _expire, (run, f"timed out after {timeout:g} s"))
            timer.daemon = True
            timer.start()
            undo.callback(timer.cancel)
        yield


def _expire(run: Run, reason: str) -> None:
    if run in active:
        active.stop(run, reason)
    else:
        cancel(run, run.work.strike, reason)


def _carry_out(run: Run, *, confirm: bool, execute: Callable[[], Observation]) -> None:
    __tracebackhide__ = True
    refusal = None
    if run.source != "python":
        if not run.unchecked:  # nobody is asked about a call that cannot be made
            run.tool.action_from_arguments(run.arguments)
        refusal = policy.check(run, confirm=confirm)
    if run.cancelled:
        raise RunCancelled
    if refusal is not None:
        run.observation = Observation.from_text(refusal, is_error=True)
        run.enter("denied")
        return
    observation = _as_ended(run, execute())
    run.observation = observation
    if run.cancelled:
        run.enter("cancelled")
    else:
        run.enter("error" if observation.is_error else "ok")


def _as_ended(run: Run, observation: Observation) -> Observation:
    """Return *observation*, which says so if the time was over before the tool was."""
    if not run.reason.startswith("timed out"):
        return observation
    gap = "\n" if observation.text else ""
    said = TextContent(text=f"{gap}[The run was {run.reason}.]")
    return observation.model_copy(update={"content": [*observation.content, said]})


def _ended_by(run: Run, error: BaseException) -> bool:
    """Note how *run* ended, and tell whether *error* is to go on."""
    interrupted = (
        isinstance(error, KeyboardInterrupt) and current_thread() is main_thread()
    )
    if interrupted or run.cancelled or isinstance(error, RunCancelled):
        said = f"The run was {run.reason or 'interrupted'}."
        run.observation = Observation.from_text(said, is_error=True)
        run.enter("cancelled")
        struck = isinstance(error, RunCancelled) and run.parent is not None
        return interrupted or struck
    hide = run.confidence.hide_text
    if isinstance(error, ArgumentsError) and error.tool == run.tool.name:
        run.problems = error.problems
    else:
        run.traceback = hide(traceback_of(error))
    run.observation = Observation.from_text(hide(sentence_of(error)), is_error=True)
    run.enter("error")
    return False


def executing(run: Run, given: Any = None) -> Callable[[], Observation]:
    """Return what carries the tool of *run* out, with the action *given* if there is one."""

    def execute() -> Observation:
        __tracebackhide__ = True
        tool = run.tool
        action = given
        if action is None:
            take = (
                tool.unchecked_action if run.unchecked else tool.action_from_arguments
            )
            action = take(run.arguments)
        run.action = action if isinstance(action, Action) else None
        if is_async(tool.executor):
            return _awaited(run, action)
        result: Observation = tool.execute(action, run.conversation)
        return result

    return execute


def _awaited(run: Run, action: Any) -> Observation:
    """Execute in the background loop, and answer in this thread what is asked meanwhile."""
    __tracebackhide__ = True
    waiting = Waiting[Observation](run.answer, run.drawer)
    loop = portal.call(running_loop)
    if (
        run.desk is None
    ):  # else it is part of a run whose thread knows better whom to ask
        run.desk = waiting.put
    forget = run.on_cancel(partial(waiting.cancel, loop))
    try:
        work = partial(run.tool.execute_async, action, run.conversation)
        return waiting.run(work, loop)
    except CancelledError:
        raise RunCancelled from None
    finally:
        forget()


def start(
    run: Run,
    *,
    timeout: float | None = None,
    confirm: bool = True,
    then: Callable[[Run], object] | None = None,
) -> Thread:
    """Carry *run* out in a daemon thread of its own, and return that.

    Args:
        run: The run.
        timeout: Seconds after which it is cancelled.
        confirm: Ask first where the policy wants it.
        then: Is called with the run when it is over, in its thread; what it raises is
            added to the output of the run.
    """

    def work() -> None:
        with routing.needed():
            perform(run, confirm=confirm, timeout=timeout)

    def afterwards() -> None:
        watch.look()
        try:
            if then is not None:
                then(run)
        except BaseException as error:  # noqa: BLE001 - nobody sees what a thread raises
            run.write("stderr", traceback_of(error))

    run.begin()
    thread = active.start(run, work, afterwards)
    watch.look()
    return thread
