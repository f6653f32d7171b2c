"""Run a tool, in this thread or in a new one; each run is recorded."""

from asyncio import AbstractEventLoop, CancelledError, Task, current_task
from asyncio.events import _get_running_loop, _set_running_loop
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Thread, current_thread, main_thread
from typing import Any
from warnings import warn

from toolbench.core.background_loop import portal
from toolbench.core.coercion import masked_observation
from toolbench.core.content import TextContent
from toolbench.core.registry import the_tool
from toolbench.core.schema import Action, Observation, hide_in_views
from toolbench.core.secrets import given
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition, call_after_reload
from toolbench.core.tool_advice import no_action, warn_of_earlier_class
from toolbench.errors import ArgumentsError, SecretError
from toolbench.network import error_kind
from toolbench.redaction.redactor import Redactor
from toolbench.runs.control import (
    CANCELLED,
    INTERRUPTED,
    RunCancelled,
    StopCause,
    active,
    limits,
    stop,
)
from toolbench.runs.current_run import run_of_code
from toolbench.runs.dialogue import Desk
from toolbench.runs.exception_text import (
    is_lack_of_memory,
    place_of,
    sentence_of,
    traceback_of,
)
from toolbench.runs.history import history as history
from toolbench.runs.otlp import attributes_of, begun_attributes, error_of
from toolbench.runs.page import in_loop, outcome_of, stop_after
from toolbench.runs.policy import Refusal, has_changed, policy
from toolbench.runs.record import RunRecord, sent_by
from toolbench.runs.redirect import hide_secrets, redirect_to
from toolbench.runs.run import OUTSIDE, Run, run_here
from toolbench.runs.secret_question import secrets_for
from toolbench.runs.unfinished_observation import (
    UnfinishedObservation,
    partial_result,
)
from toolbench.threads import have_threads
from toolbench.tracing import tracing


def run_tool(
    tool: ToolDefinition[Any, Any] | Tool | str,
    arguments: Mapping[str, Any] | Action | None = None,
    conversation: Any = None,
    /,
    **kwargs: Any,
) -> Observation:
    r"""Run *tool* and return its observation; the run is recorded in `history()`.

    Args:
        tool: The tool, its spec, or the name of a registered tool; after `%load_ext
            toolbench`, the name of any tool that `%tool` finds.
        arguments: The arguments of the call, as a model sends them; or an action of the tool, which
            is not changed.
        conversation: The conversation for the executor. The tool may use the secrets of the
            conversation; they are masked in the result. Pass it by position: the keyword
            `conversation` would be an argument for the tool.
        **kwargs: More arguments.

    Returns:
        The observation of the tool. If arguments do not fit or the executor raises, the observation
        has `is_error=True`, and its text says what to do.

    Raises:
        ToolNotFoundError: If there is no tool of that name.
        NotImplementedError: If the tool has no executor.
        TypeError: If *tool* is not a tool, if *arguments* are neither a mapping nor an action, or
            if an action is passed together with *kwargs*.
        ToolbenchError: If several tools have that name.

    Examples:
        >>> from toolbench import run_tool, tool
        >>> @tool
        ... def capital(country: str) -> str:
        ...     "Return the capital of a country."
        ...     return {"France": "Paris", "Norway": "Oslo"}[country]
        >>> run_tool(capital, country="Norway").text
        'Oslo'
        >>> run_tool(capital, {"country": "Atlantis"}).text
        "KeyError: 'Atlantis'"
        >>> print(run_tool(capital, {"contry": "France"}).text)
        capital: 2 arguments do not fit:
        - country: is required
        - contry: is an unknown argument. Did you mean 'country'?
    """
    tool = the_tool(tool)
    tool.as_executable()
    warn_of_earlier_class(tool, stacklevel=2)
    if arguments is None:
        arguments = {}
    call = call_of(tool, arguments)
    if kwargs and isinstance(call, Action):
        names = ", ".join(kwargs)
        msg = f"{tool.name} runs an action as it is: leave out {names}, or set this in the action."
        raise TypeError(msg)
    if not isinstance(call, Action):
        call = {**call, **kwargs}
    try:
        return perform(run_here(tool, call, conversation=conversation))
    except BaseException as error:
        # Only a lack of memory becomes an observation
        if not is_lack_of_memory(error):
            raise
        return Observation.from_text(sentence_of(error), is_error=True)


def call_of(tool: ToolDefinition[Any, Any], call: Any) -> Mapping[str, Any] | Action:
    """Check that *call* is a mapping of arguments or an action, and return it.

    If the module of an action's class was reloaded, the action becomes a mapping, because the tool
    now expects an object of the new class.

    Raises:
        TypeError: If *call* is neither a mapping nor an action. The message names *tool*.
    """
    if isinstance(call, Mapping | Action):
        current: Mapping[str, Any] | Action = call_after_reload(tool, call)
        return current
    raise no_action(tool.name, tool.action_type, call)


def execute(run: Run) -> Observation:
    """Execute the tool of *run* in this thread, or in the background loop if the tool is async."""
    # IPython leaves out such frames
    __tracebackhide__ = True
    tool = run.tool
    if tool.is_async:
        return _awaited(run)
    # A direct call runs like any function call, and a page has no other thread anyway
    if have_threads() and not run.is_plain and (loop := _get_running_loop()) is not None:
        return _executed_beside(loop, run)
    result: Observation = tool.execute(run.action, run.conversation, redactor=run.secrets.redactor)
    return result


def _executed_beside(loop: AbstractEventLoop, run: Run) -> Observation:
    """Execute the tool of *run* in the thread of *loop* as if the thread had no event loop.

    The tool may then call `asyncio.run`, as it may in the threads of agents and panels. *loop* is
    blocked until the tool has ended.
    """
    __tracebackhide__ = True
    task = current_task(loop)
    try:
        try:
            if task is not None:
                _leave_task(loop, task)
            _set_running_loop(None)
            result: Observation = run.tool.execute(
                run.action, run.conversation, redactor=run.secrets.redactor
            )
        finally:
            _go_back(loop, task)
    finally:
        # A second time: an interrupt may have hit the first call, and a kernel without its loop is
        # dead
        _go_back(loop, task)
    return result


def _go_back(loop: AbstractEventLoop, task: Task[Any] | None) -> None:
    """Make *loop* the running loop of this thread again, and *task* its current task."""
    _set_running_loop(loop)
    if task is not None and current_task(loop) is None:
        _enter_task(loop, task)


def perform(
    run: Run,
    *,
    confirm: bool = True,
    timeout: float | None = None,
    work: Callable[[Run], Observation] = execute,
) -> Observation:
    """Perform *run* in this thread, record it, and return the observation.

    If the tool raises an error, the result is an error observation. If the run is a plain call,
    `tool(...)`, the error is raised instead. KeyboardInterrupt is always raised.

    Args:
        run: The run.
        confirm: Whether to ask the user if the policy requires it. Plain Python calls never ask.
        timeout: Seconds after which the run is cancelled; None means the limit of `limits`, if any.
        work: The function that executes the tool; by default `execute`.
    """
    __tracebackhide__ = True
    replaced: Exception | None = None
    run.begin()
    run.span = _span_of(run)
    try:
        history().begun(run)
        with tracing.use(run.span), _current(run, limits.seconds_of(run, timeout)):
            run.control.work.carry_out(partial(_carry_out, run, work, confirm=confirm))
    except BaseException as error:
        # Any error becomes an observation
        if _ended_by(run, error) or run.is_plain:
            replaced = _without_secrets(run, error)
            if replaced is None:
                raise
    finally:
        try:
            if run.secrets.redactor.secrets:
                run.output.flush()
        finally:
            # Even if the screen is closed, or an interrupt comes while it is written to
            _end(run)
    if replaced is not None:
        # Outside `except`, so that *error* is not its context
        raise replaced
    return run.outcome


def _span_of(run: Run) -> Any:
    name, around = run.tool.name, None
    attributes = begun_attributes(name)
    if run.call_id:
        attributes["gen_ai.tool.call.id"] = run.call_id
    if run.parent is not None:
        around = run.parent.span
    return tracing.begin(f"execute_tool {name}", attributes, kind="INTERNAL", around=around)


def _end(run: Run) -> None:
    """Record *run*, end its span, and wake everything that waits for it."""
    attributes, error, message = dict[str, Any](), "not_recorded", ""
    try:
        record = _record(run)
        if run.span is not None and record is not None:
            error, message = error_of(record)
            attributes = attributes_of(record, content=tracing.wants_content)
    finally:
        tracing.end(run.span, attributes, error=error, message=message)
        history().ended(run)
        run.done.set()
        run.changed()
        run.progress_view.erase()


def _record(run: Run) -> RunRecord | None:
    """Add *run* to the history and return its record; warn and return None if memory runs out."""
    try:
        record = RunRecord.of(run)
        history().add(record)
    except BaseException as error:
        # Missing memory must not hide the run's result
        if not is_lack_of_memory(error):
            raise
        msg = f"Run {run.id} of {run.tool.name} is not in the history: {sentence_of(error)}"
        warn(msg, RuntimeWarning, stacklevel=2)
        return None
    return record


def _without_secrets(run: Run, error: BaseException) -> Exception | None:
    """Mask the secrets of *run* in *error*, so that *error* can be raised; then return None.

    If *error* cannot be changed, return another error to raise instead.
    """
    if not run.secrets.redactor.secrets:
        return None
    masked = run.secrets.redactor.error(error)
    if isinstance(error, Exception) and isinstance(masked, Exception) and masked is not error:
        return masked
    return None


@contextmanager
def _current(run: Run, timeout: float | None) -> Iterator[None]:
    """Make *run* the current run within the `with` block.

    Within the block, *run* is stopped after *timeout* seconds of work, or when its parent is
    cancelled.
    """
    with ExitStack() as undo:
        undo.callback(run_of_code.enter(run))
        if run.parent is not None:
            undo.callback(run.parent.on_cancel(partial(_stop_too, run, run.parent)))
        if timeout is not None:
            undo.callback(stop_after(timeout, run))
        yield


def _stop_too(run: Run, parent: Run) -> None:
    """Stop *run* for the same reason as *parent*."""
    stop(run, parent.control.why or CANCELLED)


def _carry_out(run: Run, work: Callable[[Run], Observation], *, confirm: bool) -> None:
    __tracebackhide__ = True
    if run.tool.is_in_development and (failed := _caught_up(run)) is not None:
        _keep(run, failed)
        run.enter("error")
        return
    run.sent = sent_by(run)
    # First, because the user is not asked about a call that cannot run.
    # A server that is not called does not check the arguments.
    if run.source == "python" or not run.tool.blocked:
        run.build()
    refusal = _judge(run, confirm=confirm)
    if run.cancelled:
        raise RunCancelled
    if refusal is not None:
        unfinished = UnfinishedObservation.from_text(refusal.text, is_error=True)
        words = {"for_person": refusal.for_person}
        run.observation = unfinished.model_copy(update=words)
        run.enter("denied")
        return
    # After the consent: the user is not asked for the secrets of a refused call
    secrets = secrets_for(run)
    with ExitStack() as undo:
        run.secrets.on_first(partial(hide_secrets, undo))
        undo.callback(_hide_filled_in, run)
        undo.enter_context(given(secrets, run.filled_in))
        observation = _as_ended(run, work(run))
    if run.filled_in and (run.source == "model" or run.source in OUTSIDE):
        # Models and other programs read the result itself, not a view of it
        observation = masked_observation(observation, Redactor(run.filled_in, shortest=1))
    _keep(run, observation)
    if isinstance(observation, UnfinishedObservation) or run.cancelled:
        run.enter("cancelled")
    elif observation.is_error:
        run.enter("error")
    else:
        run.enter("ok")


def _caught_up(run: Run) -> Observation | None:
    """Restart the server of the run's tool if its source changed; return the failure, if any."""

    def look() -> None:
        if run.cancelled:
            raise RunCancelled

    with portal.drawing(look):
        failed = run.tool.catch_up()
    run.is_renewed = has_changed(run.tool)
    run.renew()
    return failed


def _hide_filled_in(run: Run) -> None:
    """Mask the secrets filled in for other tools that the tool of *run* calls as functions."""
    if run.filled_in:
        run.secrets.include(Redactor(run.filled_in, shortest=1))


def _judge(run: Run, *, confirm: bool) -> Refusal | None:
    """Return why *run* may not start; None if it may. The user is asked only once per run.

    On a Python without threads, an async tool is judged and awaited before `perform` records the
    run.
    """
    if run.source == "python":
        return None
    if not run.is_judged:
        # An error is not judged again either: `work` raises the error
        run.is_judged = True
        run.refusal = _refusal(run, confirm=confirm)
    return run.refusal


def _refusal(run: Run, *, confirm: bool) -> Refusal | None:
    """Return why *run* may not start; None if it may.

    A server's tool is judged as the server lists it now. If the server changes the tool while the
    user is asked, the approval was for another tool, so the user is asked once more.
    """
    for _ in range(2):
        run.is_renewed = run.is_renewed or has_changed(run.tool)
        if run.renew():
            run.build()
        if refusal := run.tool.blocked:
            run.decision = "refused: its server is not called"
            return Refusal(refusal)
        verdict = policy.check(run, confirm=confirm)
        is_as_judged = not (has_changed(run.tool) or run.tool.blocked)
        if verdict is not None or is_as_judged:
            return verdict
    run.decision = "refused: its server keeps changing it"
    return Refusal(
        f"{run.tool.name} was not run: its server changed it again before the answer. Call it again."
    )


def _as_ended(run: Run, observation: Observation) -> Observation:
    """Return *observation*, with a note if the run was cancelled or exceeded its time limit.

    In this case, an error becomes an `UnfinishedObservation`, because the tool itself did not fail.
    In a plain call, `tool(...)`, only a time limit adds the note, and an error stays an error.
    """
    why = run.control.why or CANCELLED
    is_late = why.cause is StopCause.TIMEOUT
    if not (is_late or (run.cancelled and not run.is_plain)):
        return observation
    if not observation.is_error:
        return partial_result(observation, why)
    note = TextContent(text=f"[{why.sentence}.]")
    if observation.text:
        note = TextContent(text=f"\n{note.text}")
    content = [*observation.content, note]
    if run.is_plain:
        return observation.model_copy(update={"content": content})
    return UnfinishedObservation(content=content)


def _keep(run: Run, observation: Observation) -> None:
    """Set the observation of *run* to *observation*, whose views will mask the run's secrets."""
    run.observation = observation
    hide_in_views(observation, run.secrets.redactor)
    unfinished = isinstance(observation, UnfinishedObservation)
    if unfinished and observation.partial is not None:
        hide_in_views(observation.partial, run.secrets.redactor)


def _ended_by(run: Run, error: BaseException) -> bool:
    """Record in *run* that *error* ended it; return whether the caller has to raise *error*."""
    interrupted = isinstance(error, KeyboardInterrupt) and current_thread() is main_thread()
    if interrupted or run.cancelled or isinstance(error, RunCancelled):
        text = f"{(run.control.why or INTERRUPTED).sentence}."
        _keep(run, UnfinishedObservation.from_text(text, is_error=True))
        run.enter("cancelled")
        struck = isinstance(error, RunCancelled) and run.parent is not None
        return interrupted or struck
    hide = run.secrets.redactor.error_text
    run.error_kind = error_kind(error)
    if isinstance(error, ArgumentsError) and error.tool == run.tool.name:
        run.problems = error.problems
    elif not isinstance(error, SecretError):
        run.traceback = hide(traceback_of(error))
        run.place = place_of(error)
    _keep(run, Observation.from_text(sentence_of(error, hide), is_error=True))
    run.enter("error")
    return False


def _awaited(run: Run) -> Observation:
    """Execute the async tool of *run* in the background loop; ask its questions in this thread."""
    __tracebackhide__ = True
    desk = Desk(run.dialogue.asker, run.progress_view.drawer)
    loop = portal.loop
    # Otherwise the parent's thread answers
    if run.dialogue.desk is None:
        run.dialogue.desk = desk.put
    forget = run.on_cancel(partial(desk.cancel, loop))
    try:
        known = run.secrets.redactor
        work = partial(run.tool.execute_async, run.action, run.conversation, redactor=known)
        observation: Observation = desk.serve_until(work, loop)
        return observation
    except CancelledError:
        raise RunCancelled from None
    finally:
        forget()


def start(
    run: Run,
    *,
    timeout: float | None = None,
    confirm: bool = True,
    work: Callable[[Run], Observation] = execute,
    then: Callable[[Run], object] | None = None,
) -> Thread:
    """Perform *run* in a new daemon thread, and return the thread.

    On a Python without threads, a plain function has already ended when this function returns, and
    an async function runs as a task of the running loop.

    Args:
        run: The run.
        timeout: Seconds after which the run is cancelled; None means the limit of `limits`, if any.
        confirm: Whether to ask the user first if the policy requires it.
        work: The function that executes the tool; by default `execute`.
        then: A function that is called with the run after the run has ended, in the run's thread.
            An error that *then* raises is added to the output of the run.
    """

    def body() -> None:
        with redirect_to(run.output):
            perform(run, confirm=confirm, timeout=timeout, work=work)

    async def awaited() -> None:
        judge = partial(_judge, confirm=confirm)
        try:
            with redirect_to(run.output):
                seconds = limits.seconds_of(run, timeout)
                outcome = await outcome_of(run, judge=judge, timeout=seconds)
                perform(run, confirm=confirm, work=outcome)
        finally:
            afterwards()

    def afterwards() -> None:
        active.watch.look()
        try:
            if then is not None:
                then(run)
        except BaseException as error:  # noqa: BLE001 - an error in a thread would be lost
            run.output.write("stderr", traceback_of(error))

    if run.tool.is_async and not have_threads():
        in_loop(awaited())
        return current_thread()
    run.begin()
    thread = active.start(run, body, afterwards)
    active.watch.look()
    return thread
