"""Run work in a separate thread, so that no interrupt stops the work in the middle.

Python can raise a `KeyboardInterrupt` between any two bytecodes of the main thread. The exception
that cancels a run can be raised between any two bytecodes of the run's thread. If this happens
while `threading` takes a lock, the lock stays locked forever. So code that owns locks, files or
processes runs in a thread that is never interrupted. The caller waits for this thread in one call
of a C function, which can be interrupted safely.
"""

from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeVar

T = TypeVar("T")
# Seconds of one wait: in between a run that is cancelled hears of it
_STEP = 0.5


class _Outcome(NamedTuple):
    result: object = None
    error: BaseException | None = None


def undisturbed(work: Callable[[], T], when_abandoned: Callable[[], object]) -> T:
    """Run *work* in another thread, where no interrupt can stop it, and wait for its result.

    An exception in *work* is raised here.

    Args:
        work: The function to run. It sees a copy of the caller's context variables.
        when_abandoned: A function that is called, in another thread, if the caller stops waiting
            because of an exception such as `KeyboardInterrupt`.
    """
    outcome: SimpleQueue[_Outcome] = SimpleQueue()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome.put(_Outcome(error=error))
        else:
            outcome.put(_Outcome(result))

    try:
        in_background(partial(copy_context().run, run))
        result, error = _awaited(outcome)
    except BaseException:
        # Also an interrupt: the caller does not wait any more
        in_background(when_abandoned)
        raise
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # what work() returned


def _awaited(outcome: SimpleQueue[_Outcome]) -> _Outcome:
    while True:
        with suppress(Empty):
            return outcome.get(timeout=_STEP)


def in_background(work: Callable[[], object]) -> None:
    """Run *work* in a new thread; if the system cannot start a thread, run it in this thread."""
    try:
        # Thread.start() takes locks: an interrupt in there could leave a lock locked.
        start_new_thread(work, ())
    except RuntimeError:
        work()
