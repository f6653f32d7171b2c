"""Stop the work of a thread from another thread, by a KeyboardInterrupt."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from toolbench.runs.cancellation.async_exception import raise_in, receive


class Breaker:
    """A switch that stops the thread of a cell, but only while the cell runs in it."""

    def __init__(self) -> None:
        """Start without work."""
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._struck = False
        self._future: Future[Any] | None = None
        self.reason = ""
        """Why the work was stopped; empty if it was not."""
        self.interrupted = False
        """Whether a KeyboardInterrupt is meant for all work in the main thread."""
        self._signalled = partial(_note, self)

    @contextmanager
    def breakable(self, timeout: float | None) -> Iterator[None]:
        """Allow stopping the work in the `with` block; stop it after *timeout* seconds at the latest."""
        with self._lock:
            self._thread, self.reason = threading.get_ident(), ""
        self._listen()
        timer = threading.Timer(timeout or 0, self.break_off, ("timeout",))
        timer.daemon = True
        if timeout is not None:
            timer.start()
        try:
            yield
        except CancelledError as error:
            if not self.reason:
                raise
            raise KeyboardInterrupt from error
        finally:
            self._end(timer)

    def _listen(self) -> None:
        """Watch for SIGINT, as a KeyboardInterrupt may also come from the work itself."""
        self.interrupted = False
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._signalled)
            else:  # a foreign handler: it is unknown when it raises
                self.interrupted = True

    def _end(self, timer: threading.Timer) -> None:
        """End the work: after this, also an interrupt that was already sent has no effect."""
        while self._thread is not None:
            with suppress(KeyboardInterrupt), self._lock:
                timer.cancel()
                if self._struck:
                    self._struck = False
                    receive(partial(self._strike, threading.get_ident()))
                if signal.getsignal(signal.SIGINT) is self._signalled:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                self._thread = None

    def await_(self, future: "Future[Any]") -> Any:
        """Return the result of *future*, which is cancelled if the work is stopped."""
        with self._lock:
            self._future = future
        try:
            return future.result()
        except BaseException:  # also at an interrupt: no caller waits for it now
            future.cancel()
            raise
        finally:
            with self._lock:
                self._future = None

    def break_off(self, reason: str = "interrupt") -> None:
        """Stop the work, if there is any."""
        with self._lock:
            if self._thread is None:
                return
            self.reason = self.reason or reason
            if self._future is not None:
                self._future.cancel()
            else:
                self._struck = True
                self._strike(self._thread)

    def _strike(self, thread: int) -> None:
        """Raise KeyboardInterrupt in *thread*."""
        if not self._is_signalled():
            raise_in(thread, KeyboardInterrupt)
        elif thread == threading.get_ident():
            signal.raise_signal(signal.SIGINT)
        else:
            signal.pthread_kill(thread, signal.SIGINT)  # also out of a sleep

    def _is_signalled(self) -> bool:
        """Tell whether a SIGINT would raise KeyboardInterrupt in the thread."""
        return (
            self._thread == threading.main_thread().ident
            and signal.getsignal(signal.SIGINT) is self._signalled
            and hasattr(signal, "pthread_kill")
        )


def _note(breaker: Breaker, number: int, frame: Any) -> None:
    """Handle SIGINT as Python does."""
    breaker.interrupted = not breaker.reason
    signal.default_int_handler(number, frame)
