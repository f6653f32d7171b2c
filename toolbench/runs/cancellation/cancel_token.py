"""A token to cancel a piece of work from any thread, with callbacks."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Protocol

Callback = Callable[[], object]


class Cancellable(Protocol):
    """An object that knows whether work is cancelled: a `CancelToken`, or `current_run()`."""

    @property
    def cancelled(self) -> bool:
        """Whether the work is cancelled."""

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
        self._callbacks: list[Callback] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<CancelToken{' cancelled' if self.cancelled else ''}>"

    def on_cancel(self, callback: Callback) -> Callable[[], None]:
        """Call *callback* in the thread that cancels, or at once if the token is cancelled already.

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
            with suppress(Exception):  # if one fails, the others are still called
                callback()

    def request(self, reason: str = "") -> list[Callback]:
        """Mark the work as cancelled and return the callbacks, each only once."""
        with self._lock:
            if not self.cancelled:
                self.cancelled, self.reason = True, reason
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    def _forget(self, callback: Callback) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)
