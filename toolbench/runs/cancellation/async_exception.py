"""Raise an exception in another thread during a piece of work, never before or after it."""

import ctypes
from collections.abc import Callable
from threading import Lock, get_ident

_SOON = 100_000  # rounds of a loop; the exception comes with the first


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise *error* in the thread with the identifier *thread*, between two bytecodes.

    A call blocked in C runs to its end first.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error)
    )


def receive(raise_here: Callable[[], object]) -> None:
    """Wait for an exception that another thread may have sent to this one.

    It may have arrived already, and CPython cannot take it back without making the process
    slower for good. So another exception replaces it, and this function waits for that.

    Args:
        raise_here: Sends the other exception to this thread, where it is raised.
    """
    raise_here()
    for _ in range(_SOON):
        pass


class Interruptible:
    """A piece of work in one thread that another thread may stop with an exception."""

    def __init__(self, error: type[BaseException]) -> None:
        """Stop the work with *error*."""
        self._error = error
        self._lock = Lock()
        self._thread: int | None = None
        self._struck = False

    def begin(self) -> None:
        """Allow exceptions in the calling thread from now on."""
        with self._lock:
            self._thread = get_ident()

    def end(self) -> None:
        """Allow no more exceptions; one that was already sent has no effect."""
        while self._thread is not None:
            try:
                self._settle()
            except self._error:
                continue

    def strike(self) -> None:
        """Raise the exception in the thread, if the work is going on."""
        with self._lock:
            if self._thread is not None:
                self._struck = True
                raise_in(self._thread, self._error)

    def _settle(self) -> None:
        with self._lock:
            if self._struck:
                self._struck = False
                receive(lambda: raise_in(get_ident(), self._error))
            self._thread = None
