"""Break off what a thread is doing, and only that: never what it does before or after."""

import ctypes
from threading import Lock, get_ident

_SOON = 100_000  # rounds of a loop; the exception comes with the first


class Breakable:
    """A stretch of work in one thread that another may break off with an exception.

    CPython raises it between two bytecodes: a call blocked in C runs to its end first.
    """

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
                self._raise_in(self._thread)

    def _settle(self) -> None:
        with self._lock:
            if self._struck:
                # Nobody knows whether the last strike has arrived, and CPython cannot take
                # one back without slowing the process down for good: so another takes its
                # place, and is waited for.
                self._struck = False
                self._raise_in(get_ident())
                for _ in range(_SOON):
                    pass
            self._thread = None

    def _raise_in(self, thread: int) -> None:
        error = ctypes.py_object(self._error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
