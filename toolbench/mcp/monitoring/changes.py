"""Notify the listeners of a server's session of changes, at most a few times a second."""

import logging
from collections.abc import Callable
from functools import partial
from threading import Lock, Timer

Listener = Callable[[frozenset[str]], None]
"""A function that takes the names of the changed parts: `status`, `tools`, `resources`,
`prompts`, `log`, `stderr`, `traffic`."""
_log = logging.getLogger(__name__)


class Changes:
    """Collects the names of changed parts, and passes them to the listeners in one call."""

    def __init__(self, interval: float = 0.1) -> None:
        """Call the listeners at most every *interval* seconds."""
        self._interval = interval
        self.listeners: tuple[Listener, ...] = ()
        self._waiting: set[str] = set()
        self._timer: Timer | None = None
        self._lock = Lock()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* after changes, in a background thread; return a function that removes it.

        A listener that raises is not called again.
        """
        with self._lock:
            self.listeners = (*self.listeners, listener)
        return partial(self._forget, listener)

    def note(self, name: str) -> None:
        """Note that the part *name* has changed, so that the listeners are called soon."""
        with self._lock:
            if not self.listeners:
                return
            self._waiting.add(name)
            if self._timer is None:
                self._timer = Timer(self._interval, self._pass_on)
                self._timer.daemon = True
                self._timer.start()

    def _pass_on(self) -> None:
        with self._lock:
            changed = frozenset(self._waiting)
            self._waiting.clear()
            self._timer = None
            listeners = self.listeners
        for listener in listeners:
            try:
                listener(changed)
            except Exception:  # noqa: BLE001 - the other listeners must still be called
                _log.exception("A listener to a server failed and is not called any more.")
                self._forget(listener)

    def _forget(self, listener: Listener) -> None:
        with self._lock:
            self.listeners = tuple(each for each in self.listeners if each is not listener)
