"""Stop a run: first ask the run to stop, then use force.

To ask means: mark the run as cancelled, call its callbacks (one of them cancels the future of an
async run), and call the executor's `interrupt()`. Force, after a grace period, means: kill the
processes that the run started, and raise an exception in its thread. A call blocked in C cannot be
stopped: the run is reported as stopping until the call returns, but callers wait only a few
seconds.
"""

import threading
from collections.abc import Callable
from itertools import count
from threading import Thread
from typing import TYPE_CHECKING

from toolbench.runs.current_run import inherited_run

if TYPE_CHECKING:
    from toolbench.runs.run import Run
from toolbench.threads import daemon_thread, have_threads

# Seconds between asking and the first use of force
GRACE = 1.0
# Uses of force before the run is given up
PATIENCE = 3
# Seconds a run has to end after its callbacks, before `interrupt()`
CALLBACK_SECONDS = 0.2


def cancel(
    run: "Run", insist: Callable[[], object] | None = None, reason: str = "cancelled"
) -> None:
    """Stop *run*, and return at once; repeated calls do no harm.

    Args:
        run: The run.
        insist: A function that uses force; it is called every second until the run has ended.
        reason: The reason, for the record.
    """
    if run.has_ended or run.state == "stopping":
        return
    callbacks = run.wants_cancel(reason)
    run.enter("stopping")
    _in_background(_ask, run, callbacks)
    # Else it has ended, or is a task
    if insist is not None and have_threads():
        _in_background(_insist, run, insist)


def _in_background(work: Callable[..., None], *args: object) -> None:
    daemon_thread(work, *args, name="toolbench-cancel").start()


def _ask(run: "Run", callbacks: list[Callable[[], object]]) -> None:
    for callback in callbacks:
        _tell(run, callback)
    patience = CALLBACK_SECONDS if have_threads() else 0
    # Only then: `interrupt` may stop other runs too
    if not (callbacks and run.done.wait(patience)):
        _tell(run, getattr(run.tool.executor, "interrupt", None))


def _insist(run: "Run", insist: Callable[[], object]) -> None:
    for times in count(1):
        # less and less often after it was given up: each time wakes the process
        if run.done.wait(GRACE * max(1, times - PATIENCE)):
            return
        if times > PATIENCE and not run.is_stuck:
            run.give_up()
        insist()


def _tell(run: "Run", callback: Callable[[], object] | None) -> None:
    try:
        if callback is not None:
            callback()
    except Exception as error:  # noqa: BLE001 - if one fails, the others are still called
        run.log(f"while stopping: {error}", "warning")


def break_off(run: "Run", thread: Thread) -> None:
    """Kill the processes that *run* started, and raise `RunCancelled` in *thread*, the thread of *run*."""
    others = [t for t in threading.enumerate() if inherited_run(t) is run]
    run.children.kill([thread, *others])
    run.work.strike()
