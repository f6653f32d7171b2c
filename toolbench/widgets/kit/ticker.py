"""Update views of running work at most ten times a second, all from one thread."""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

PERIOD = 0.1  # seconds
_log = logging.getLogger(__name__)


class Ticker:
    """A timer that calls each watcher every tick until it returns False."""

    def __init__(self, period: float = PERIOD) -> None:
        """Tick every *period* seconds."""
        self._period = period
        self._watchers: list[Callable[[], bool]] = []
        self._lock = Lock()
        self._thread: Thread | None = None
        self._idle = Event()
        self._idle.set()

    def watch(self, watcher: Callable[[], bool]) -> None:
        """Call *watcher* every tick until it returns False."""
        with self._lock:
            self._watchers.append(watcher)
            self._idle.clear()
            if self._thread is None:
                self._thread = Thread(
                    target=self._tick, name="toolbench-ticker", daemon=True
                )
                self._thread.start()

    def wait_idle(self, timeout: float) -> bool:
        """Wait at most *timeout* seconds until there are no watchers; return whether there are none."""
        return self._idle.wait(timeout)

    def _tick(self) -> None:
        while True:
            time.sleep(self._period)
            with self._lock:
                watchers = list(self._watchers)
            over = [watcher for watcher in watchers if not _look(watcher)]
            with self._lock:
                for watcher in over:
                    self._watchers.remove(watcher)
                if not self._watchers:
                    self._thread = None
                    self._idle.set()
                    return


def _look(watcher: Callable[[], bool]) -> bool:
    try:
        return watcher()
    except Exception:  # noqa: BLE001 - one view that fails must not stop the others
        _log.exception("A view of a run failed; it is not updated any more.")
        return False


ticker = Ticker()
"""The ticker of this process."""
