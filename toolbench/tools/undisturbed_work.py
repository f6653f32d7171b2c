"""Run work in a separate thread, so that no interrupt stops the work in the middle.

A `KeyboardInterrupt` can be raised between any two bytecodes of the main thread, and the exception
that cancels a run between any two bytecodes of the run's thread. If one of them is raised while
`threading` takes a lock, the lock stays locked for ever. So code that owns locks, files and
processes runs in a thread that no signal interrupts. The caller waits in one call of a C function,
which can be interrupted safely.
"""

import errno
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeVar
from weakref import ref

T = TypeVar("T")
LOOK_AGAIN = 0.5
"""The seconds between two checks that a thread is alive."""


class _Outcome(NamedTuple):
    result: object = None
    error: BaseException | None = None


def undisturbed(work: Callable[[], T], when_abandoned: Callable[[], object]) -> T:
    """Run *work* in a separate thread; return its result or raise its error.

    Args:
        work: The function to run, in the context of the caller.
        when_abandoned: A function that is called in another thread if an exception ends the wait.

    Raises:
        MemoryError: If the thread had too little memory to run.
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
        thread = partial(copy_context().run, run)
        is_alive = ref(thread)
        in_background(thread)
        # Now only the thread has a reference
        del run, thread
        result, error = _awaited(outcome, is_alive)
    except BaseException:
        # Also an interrupt: the caller does not wait any more
        in_background(when_abandoned)
        raise
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # what work() returned


def _awaited(outcome: SimpleQueue[_Outcome], is_alive: Callable[[], object]) -> _Outcome:
    """Wait for the first item of *outcome*, and return it.

    Raises:
        MemoryError: If the thread died without an item.
    """
    while True:
        with suppress(Empty):
            return outcome.get(timeout=LOOK_AGAIN)
        if not is_alive() and outcome.empty():
            msg = "Too little memory was left for the call. Free some and try again."
            raise MemoryError(msg)


def in_background(work: Callable[[], object]) -> None:
    """Run *work* in a new thread; if the system cannot start a thread, run it in this thread."""
    try:
        # Thread.start() takes locks: an interrupt in there could leave a lock locked.
        start_new_thread(work, ())
    except RuntimeError:
        work()


class WatchedThread:
    """Work in a daemon thread. Its end is always noticed, even if the thread had no memory to run.

    A `threading.Thread` is not used: if it gets no memory for its first step, its `start()` waits
    for ever.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        """Start a thread for *work*, a function that must not raise an error.

        Raises:
            OSError: If the system cannot start a thread.
        """
        self._running = allocate_lock()
        self._running.acquire()
        body = partial(_released_after, work, self._running)
        # The thread has the only other reference
        self._body = ref(body)
        try:
            start_new_thread(body, ())
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, str(error)) from None

    @property
    def is_alive(self) -> bool:
        """Whether the thread may still be running."""
        return self._body() is not None

    def join(self) -> None:
        """Wait until the thread has ended."""
        while not self._running.acquire(timeout=LOOK_AGAIN):
            if not self.is_alive:
                return
        self._running.release()


def _released_after(work: Callable[[], object], lock: LockType) -> None:
    try:
        work()
    finally:
        lock.release()
