"""Stop a run: ask first, then insist.

First the run's flag and its callbacks, among them the future of what is async, and the
executor's `interrupt()`. After a grace period the processes the run started are killed and an
exception is raised in its thread. A call blocked in C cannot be broken off: the run is
reported as stopping until it returns; after a few seconds it is given up, and nothing waits
for it.
"""

import threading
from collections.abc import Callable
from itertools import count
from threading import Thread

from toolbench.runs.current_run import inherited_run
from toolbench.runs.run import ENDED, Run

GRACE = 1.0  # seconds between asking and insisting
PATIENCE = 3  # times it is insisted before the run is given up
CALLBACK_SECONDS = (
    0.2  # seconds a run has to end after its callbacks, before the executor is told
)


def cancel(
    run: Run, insist: Callable[[], object] | None = None, reason: str = "cancelled"
) -> None:
    """Have *run* stop. Returns at once; again and again does no harm.

    Args:
        run: The run.
        insist: What to do, every second, while it does not stop.
        reason: Why, for the record.
    """
    if run.state in ENDED or run.state == "stopping":
        return
    callbacks = run.wants_cancel(reason)
    run.enter("stopping")
    _in_background(_ask, run, callbacks)
    if insist is not None:
        _in_background(_insist, run, insist)


def _in_background(work: Callable[..., None], *args: object) -> None:
    Thread(target=work, args=args, name="toolbench-cancel", daemon=True).start()


def _ask(run: Run, callbacks: list[Callable[[], object]]) -> None:
    for callback in callbacks:
        _tell(run, callback)
    if not (
        callbacks and run.done.wait(CALLBACK_SECONDS)
    ):  # or other runs would be stopped too
        _tell(run, getattr(run.tool.executor, "interrupt", None))


def _insist(run: Run, insist: Callable[[], object]) -> None:
    for times in count(1):
        # one that was given up is insisted on more and more seldom: it wakes the process
        if run.done.wait(GRACE * max(1, times - PATIENCE)):
            return
        if times > PATIENCE and not run.is_stuck:
            run.give_up()
        insist()


def _tell(run: Run, callback: Callable[[], object] | None) -> None:
    try:
        if callback is not None:
            callback()
    except Exception as error:  # noqa: BLE001 - a callback that fails must not keep the others from being called
        run.log(f"while stopping: {error}", "warning")


def break_off(run: Run, thread: Thread) -> None:
    """Kill the processes *run* started and raise `RunCancelled` in its *thread*."""
    others = [t for t in threading.enumerate() if inherited_run(t) is run]
    run.children.kill([thread, *others])
    run.work.strike()
