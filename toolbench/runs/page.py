"""Runs on a Python without threads, in a browser page: tasks of the kernel's loop replace threads.

Code in such a Python cannot block. So the tool is awaited first, and then `perform` records its
result.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from threading import Event, Timer
from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.secrets import given
from toolbench.runs.control import RunCancelled, Stop, stop
from toolbench.runs.current_run import run_of_code
from toolbench.runs.questions import Answer, Asker, Question
from toolbench.runs.run import Run
from toolbench.runs.secret_question import secrets_for
from toolbench.threads import NO_THREADS, have_threads


def later(seconds: float, act: Callable[..., object], *args: Any) -> Callable[[], object]:
    """Call `act(*args)` after *seconds*; return a function that cancels the call.

    On a Python without threads, *act* is called when the kernel's loop is free: after the running
    cell or plain function. Without threads and without a loop, *act* is never called.
    """
    if have_threads():
        timer = Timer(seconds, act, args)
        timer.daemon = True
        timer.start()
        return timer.cancel
    try:
        return asyncio.get_running_loop().call_later(seconds, act, *args).cancel
    except RuntimeError:
        # In a script, nothing would call *act*
        return lambda: None


# Seconds between checks of a run that waits for an answer
_SOON = 0.05


def stop_after(seconds: float, run: Run) -> Callable[[], object]:
    """Stop *run* after it has worked for *seconds*; return a function that removes this limit.

    Time in which the run waits for an answer does not count.
    """
    is_over = Event()
    pending: list[Callable[[], object]] = []

    def look() -> None:
        if is_over.is_set() or run.has_ended:
            return
        left = seconds - run.seconds
        if left <= 0:
            stop(run, Stop.timeout(seconds))
            return
        pending[:] = [later(max(left, _SOON), look)]

    def cancel() -> None:
        is_over.set()
        pending[0]()

    pending.append(later(seconds, look))
    return cancel


# The tasks are kept here, because the loop does not keep tasks that wait
_tasks = set[asyncio.Task[Any]]()


def in_loop(work: Coroutine[Any, Any, Any]) -> None:
    """Start *work* as a task of the running event loop."""
    task = asyncio.get_running_loop().create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def outcome_of(
    run: Run,
    *,
    judge: Callable[[Run], object] = lambda run: None,
    timeout: float | None = None,
) -> Callable[[Run], Observation]:
    """Execute *run*, whose tool is async, and return a function that gives the outcome.

    Pass this function to `perform` as *work*. The function returns the observation of the tool, or
    raises the tool's error. If the arguments do not fit, or the run is refused, the tool is not
    called, and `perform` reports the reason.

    Args:
        run: The run.
        judge: A function that returns the reason why the run may not start; None if it may start.
        timeout: Seconds of work after which the run is cancelled; None means no limit.
    """
    run.begin()
    try:
        run.build()
        refusal = judge(run)
        secrets = {}
        if refusal is None:
            secrets = secrets_for(run)
    except Exception as error:  # noqa: BLE001 - of the tool's own: a validator, or a reason to ask
        return partial(_raise, error)
    if refusal is not None:
        return partial(_raise, RunCancelled())
    leave = run_of_code.enter(run)
    try:
        with given(secrets, run.filled_in):
            task = asyncio.get_running_loop().create_task(
                run.tool.execute_async(run.action, run.conversation, redactor=run.secrets.redactor)
            )
    finally:
        leave()
    with ExitStack() as undo:
        undo.callback(run.on_cancel(task.cancel))
        if timeout:
            undo.callback(stop_after(timeout, run))
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # The caller was cancelled
            task.cancel()
            stop(run)
    return partial(_result, task)


def _result(task: "asyncio.Task[Any]", _: Run) -> Observation:
    if not task.done() or task.cancelled():
        raise RunCancelled
    observation: Observation = task.result()
    return observation


def _raise(error: BaseException, _: Run) -> Observation:
    raise error


def already_answered(answer: Answer) -> Asker:
    """Return an asker that answers the consent question with *answer* and declines all others."""
    absence = f"nobody could be asked during the run, since {NO_THREADS}"

    def ask(question: Question) -> Answer:
        if question.consent is not None:
            return answer
        return Answer("decline", by_somebody=False, absence=absence)

    return ask
