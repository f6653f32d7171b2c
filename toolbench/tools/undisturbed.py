"""Work that no interrupt breaks off in the middle.

`KeyboardInterrupt` can come between any two bytecodes of the main thread, and the exception
that ends a run between any two of that run's thread. One that comes while `threading` takes a
lock leaves it locked for ever. So what owns locks, files and processes works in a thread that
no signal interrupts, and its caller waits in one call of C, which can be interrupted safely.
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
"""Seconds from one look at whether a thread lives to the next."""


class _Outcome(NamedTuple):
    result: object = None
    error: BaseException | None = None


def undisturbed(work: Callable[[], T], when_abandoned: Callable[[], object]) -> T:
    """Return what *work* returns, or raise what it raises; it runs in a thread of its own.

    Args:
        work: What to do, in the context of the caller.
        when_abandoned: Is called, in another such thread, if an exception ends the wait.

    Raises:
        MemoryError: If there was too little memory for the thread to go on.
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
        del run, thread  # now it lives as long as the thread does
        result, error = _awaited(outcome, is_alive)
    except BaseException:  # also an interrupt: the work is given up
        in_background(when_abandoned)
        raise
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # what work() returned


def _awaited(
    outcome: SimpleQueue[_Outcome], is_alive: Callable[[], object]
) -> _Outcome:
    """Wait for the *outcome*. A thread that finds no memory at all dies without one."""
    while True:
        with suppress(Empty):
            return outcome.get(timeout=LOOK_AGAIN)
        if not is_alive() and outcome.empty():
            msg = "Too little memory was left for the call. Free some and try again."
            raise MemoryError(msg)


def in_background(work: Callable[[], object]) -> None:
    """Do *work* in a thread that is not interrupted; here, if the system has no thread left."""
    try:
        # Thread.start() itself takes Python's locks: an interrupt in there could lose one.
        start_new_thread(work, ())
    except RuntimeError:
        work()


class WatchedThread:
    """Work in a daemon thread that others can see the end of, also where it died without a word.

    A `threading.Thread` that finds no memory for its first step leaves `start()` waiting for ever.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        """Begin *work*, which raises nothing.

        Raises:
            OSError: If the system has no thread left.
        """
        self._running = allocate_lock()
        self._running.acquire()
        body = partial(_released_after, work, self._running)
        self._body = ref(body)  # the thread has the only other reference
        try:
            start_new_thread(body, ())
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, str(error)) from None

    @property
    def is_alive(self) -> bool:
        """Whether it may still be at work."""
        return self._body() is not None

    def join(self) -> None:
        """Wait until it has ended."""
        while not self._running.acquire(timeout=LOOK_AGAIN):
            if not self.is_alive:
                return
        self._running.release()


def _released_after(work: Callable[[], object], lock: LockType) -> None:
    try:
        work()
    finally:
        lock.release()
