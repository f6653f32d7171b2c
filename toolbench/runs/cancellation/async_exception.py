"""Raise an exception in another thread during a stretch of work: never before or after it."""

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
    """Have an exception that is on its way to this thread arrive now.

    It is unknown whether it has arrived already, and CPython cannot take one back without
    slowing the process down for good. So another takes its place, and is waited for.

    Args:
        raise_here: Sends the other one to this thread; what arrives is raised.
    """
    raise_here()
    for _ in range(_SOON):
        pass


class Interruptible:
    """A stretch of work in one thread that another may break off with an exception."""

    def __init__(self, error: type[BaseException]) -> None:
        """Break off with *error*."""
        self._error = error
        self._lock = Lock()
        self._thread: int | None = None
        self._struck = False

    def begin(self) -> None:
        """From here on the calling thread may be struck."""
        with self._lock:
            self._thread = get_ident()

    def end(self) -> None:
        """From here on it may not; a strike that is on its way has no effect any more."""
        while self._thread is not None:
            try:
                self._settle()
            except self._error:
                continue

    def strike(self) -> None:
        """Raise the exception in the thread, if it is at the work."""
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
