"""Stop a piece of work from any thread, by a token or by an exception.

`CancelToken` is for work that checks the token or adds a callback. For all other work,
`Interruptible` raises an exception in the thread of the work.
"""

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, current_thread, get_ident
from time import sleep
from typing import Protocol

Callback = Callable[[], object]
INTERRUPTED = "interrupted"
"""The reason of a stop that an interrupt of the kernel or of an agent caused.

Jupyter also interrupts a kernel before it ends the kernel.
"""


class RunCancelled(BaseException):
    """Raised inside a run to stop it; executors must not catch it."""


class Cancellable(Protocol):
    """An object that knows whether work is cancelled: a `CancelToken`, or `current_run()`."""

    @property
    def cancelled(self) -> bool:
        """Whether the work is cancelled."""

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the work; None if it is not cancelled, or by its parent only."""

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* when the work is cancelled; at once if it is cancelled already.

        Returns:
            A function that removes the callback.
        """


class CancelToken:
    """A token that cancels a piece of work once; any thread may cancel it or add a callback."""

    def __init__(self) -> None:
        """Make a token that is not cancelled."""
        self.cancelled = False
        """Whether `cancel` was called."""
        self.reason = ""
        """The reason of the first call of `cancel`."""
        self.cancelled_in: Thread | None = None
        """The thread in which `cancel` was called first."""
        self._callbacks: list[Callback] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<CancelToken{' cancelled' if self.cancelled else ''}>"

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* in the thread that calls `cancel`; at once, if that has happened already.

        Returns:
            A function that removes the callback.
        """
        with self._lock:
            if not self.cancelled:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def cancel(self, reason: str = "") -> None:
        """Cancel the work and call every callback; a second call does nothing."""
        for callback in self.request(reason):
            # If one fails, the others are still called
            with suppress(Exception):
                callback()

    def request(self, reason: str = "") -> list[Callback]:
        """Mark the work as cancelled; return the callbacks that no earlier call of this method returned.

        The caller has to call these callbacks.
        """
        with self._lock:
            if not self.cancelled:
                self.cancelled, self.reason = True, reason
                self.cancelled_in = current_thread()
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    def _forget(self, callback: Callback) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)


# Rounds of a loop; the exception arrives in the first round
_SOON = 100_000
_START = Thread.start.__code__
# Checks whether a thread still starts another one
_LONGEST_START = 1_000


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise *error* in the thread with the identifier *thread*, between two bytecodes.

    The exception waits until a blocking call in C has returned.
    """
    _wait_for_started_threads(thread)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _wait_for_started_threads(thread: int) -> None:
    """Wait while *thread* starts another thread.

    Before Python 3.12, a new thread at first has the identifier of its parent, the thread that
    starts it. The new thread would get the exception and end, and its parent would wait for ever.
    """
    if sys.version_info >= (3, 12):
        return
    for _ in range(_LONGEST_START):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code is not _START:
            frame = frame.f_back
        if frame is None:
            return
        sleep(0.001)


def receive(raise_here: Callable[[], object]) -> None:
    """Make sure that no exception sent by another thread can still arrive in this thread.

    Another thread may have sent an exception that has not arrived yet. CPython cannot take this
    exception back without making the process slower for ever. So this function sends a second
    exception, which replaces the first exception, and waits for the second.

    Args:
        raise_here: A function that sends the second exception to this thread.
    """
    raise_here()
    for _ in range(_SOON):
        pass


class Interruptible:
    """A piece of work in one thread that another thread may stop with an exception."""

    def __init__(self, error: type[BaseException]) -> None:
        """Make a piece of work that `strike` stops by raising *error*."""
        self._error = error
        self._lock = Lock()
        self._thread: int | None = None
        self._struck = False

    def begin(self) -> None:
        """Allow `strike` to raise the exception in the calling thread from now on."""
        with self._lock:
            self._thread = get_ident()

    def end(self) -> None:
        """Stop allowing the exception; if it was sent already and has not arrived, it has no effect."""
        while self._thread is not None:
            try:
                self._settle()
            except self._error:
                continue

    def strike(self) -> None:
        """Raise the exception in the thread of the work, if the work still runs."""
        with self._lock:
            self._strike()

    def _strike(self) -> None:
        """Do the same as `strike`; the caller holds the lock."""
        if self._thread is not None:
            self._struck = True
            self._raise_in(self._thread)

    def _settle(self) -> None:
        with self._lock:
            if self._struck:
                self._struck = False
                receive(lambda: self._raise_in(get_ident()))
            self._disallow()
            self._thread = None

    def _raise_in(self, thread: int) -> None:
        """Raise the exception in *thread*; a subclass may have a quicker way."""
        raise_in(thread, self._error)

    def _disallow(self) -> None:
        """Called when the work ends; a subclass can undo its own preparations for the exception here."""
