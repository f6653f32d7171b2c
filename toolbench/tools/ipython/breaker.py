"""Stop a running cell from another thread with a KeyboardInterrupt."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

from toolbench.runs.control import Interruptible


class Breaker(Interruptible):
    """Stops the code of a cell, on request or after a time limit.

    If the cell runs in the main thread, SIGINT interrupts it. If it runs in another thread, a
    `KeyboardInterrupt` is raised in that thread. If the cell is waiting for a future, the future
    is cancelled instead. When no cell is running, nothing happens.
    """

    def __init__(self) -> None:
        """Prepare for the first cell."""
        super().__init__(KeyboardInterrupt)
        self._future: Future[Any] | None = None
        self._timer: threading.Timer | None = None
        self.reason = ""
        """The reason why the cell was stopped; empty if it was not stopped."""

    @contextmanager
    def breakable(self, timeout: float | None) -> Iterator[None]:
        """Let `break_off` stop the code in the `with` block.

        If *timeout* is given, the code is also stopped after this number of seconds.
        """
        self.reason, self._timer, self._future = "", None, None
        try:
            self.begin()
            if timeout is not None:
                self._timer = threading.Timer(timeout, self._time_is_over)
                self._timer.daemon = True
                self._timer.start()
            yield
        except CancelledError as error:
            if not self.reason:
                raise
            raise KeyboardInterrupt from error
        finally:
            self.end()

    def _disallow(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def await_(self, future: "Future[Any]") -> Any:
        """Wait for *future* and return its result; if the cell is stopped, cancel *future*."""
        with self._lock:
            self._future = future
        try:
            return future.result()
        except BaseException:
            # Also at an interrupt: no caller waits for it now
            future.cancel()
            raise
        finally:
            with self._lock:
                self._future = None

    def break_off(self, reason: str = "interrupt") -> None:
        """Stop the code of the cell, if it runs, and store *reason* in the attribute `reason`."""
        with self._lock:
            self._break_off(reason)

    def _time_is_over(self) -> None:
        with self._lock:
            # the timer of an earlier cell may come late
            if threading.current_thread() is self._timer:
                self._break_off("timeout")

    def _break_off(self, reason: str) -> None:
        """Do the same as `break_off`; the caller holds the lock."""
        if self._thread is None:
            return
        self.reason = self.reason or reason
        if self._future is not None:
            self._future.cancel()
        else:
            self._strike()

    def _raise_in(self, thread: int) -> None:
        if not self._is_signalled():
            super()._raise_in(thread)
        elif thread == threading.get_ident():
            signal.raise_signal(signal.SIGINT)
        else:
            # Also ends a sleep
            signal.pthread_kill(thread, signal.SIGINT)

    def _is_signalled(self) -> bool:
        """Tell whether a SIGINT would raise KeyboardInterrupt in the thread of the cell."""
        return (
            self._thread == threading.main_thread().ident
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
            and hasattr(signal, "pthread_kill")
        )
