"""The wish that something stops, and who is to be told of it."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock

Callback = Callable[[], object]


class StopSign:
    """Goes up once and stays up; any thread may look, or ask to be told."""

    def __init__(self) -> None:
        """It is down, and nobody is to be told."""
        self.is_up = False
        self.reason = ""
        self._callbacks: list[Callback] = []
        self._lock = Lock()

    def on_up(self, callback: Callback) -> Callable[[], None]:
        """Have *callback* told by whoever puts the sign up; call it now if it is up.

        Returns:
            A function that takes that back.
        """
        with self._lock:
            if not self.is_up:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callback) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)

    def put_up(self, reason: str = "") -> list[Callback]:
        """Note that it is to stop, the first *reason* counts; return whom to tell, once each."""
        with self._lock:
            if not self.is_up:
                self.is_up, self.reason = True, reason
            callbacks, self._callbacks = self._callbacks, []
        return callbacks
