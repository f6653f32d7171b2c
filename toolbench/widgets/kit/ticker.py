"""A timer that updates the views of running work, ten times a second and whenever work ends.

One thread makes all updates. In a Python without threads, the kernel's event loop makes them.
"""

import logging
import time
from collections.abc import Callable
from itertools import count
from threading import Event, Lock

from toolbench.runs.page import later
from toolbench.threads import daemon_thread, have_threads

# Seconds
PERIOD = 0.1
# How many times more ticks there may be while runs end
_FASTER = 5
_log = logging.getLogger(__name__)


class Ticker:
    """A timer that calls each watcher at every tick, until the watcher returns False."""

    def __init__(self, period: float = PERIOD) -> None:
        """Tick every *period* seconds."""
        self._period = period
        self._watchers: dict[Callable[[], bool], int] = {}
        self._numbers = count()
        self._lock = Lock()
        self._is_ticking = False
        self._idle = Event()
        self._idle.set()
        self._over = Event()

    def watch(self, watcher: Callable[[], bool]) -> None:
        """Call *watcher* at each tick until it returns False.

        If a watcher is added several times, it is still called only once per tick. After each call
        of `watch`, the watcher is called at least once.
        """
        with self._lock:
            self._watchers[watcher] = next(self._numbers)
            self._idle.clear()
            if self._is_ticking:
                return
            self._is_ticking = True
            if have_threads():
                daemon_thread(self._tick, name="toolbench-ticker").start()
            else:
                later(self._period, self._tick_in_loop)

    def look_now(self) -> None:
        """Start the next tick now, so that the result of finished work is shown at once.

        In a Python without threads, the next tick starts at its usual time.
        """
        self._over.set()

    def wait_idle(self, timeout: float) -> bool:
        """Wait up to *timeout* seconds until no watcher is left. Return whether none is left."""
        return self._idle.wait(timeout)

    def reset(self) -> None:
        """Remove all watchers.

        This is for tests, in which the loop that calls them may have ended.
        """
        with self._lock:
            self._watchers.clear()
            self._is_ticking = False
            self._idle.set()

    def _tick(self) -> None:
        self._wait(self._period)
        while self._look():
            # Not sooner, even if many runs end now
            time.sleep(self._period / _FASTER)
            self._wait(self._period - self._period / _FASTER)

    def _wait(self, seconds: float) -> None:
        self._over.wait(seconds)
        self._over.clear()

    def _tick_in_loop(self) -> None:
        if self._look():
            later(self._period, self._tick_in_loop)

    def _look(self) -> bool:
        """Call each watcher. Return whether any watchers remain."""
        with self._lock:
            watchers = dict(self._watchers)
        over = [watcher for watcher in watchers if not _look(watcher)]
        with self._lock:
            for watcher in over:
                # The watcher may have been added again since
                if self._watchers.get(watcher) == watchers[watcher]:
                    del self._watchers[watcher]
            if not self._watchers:
                self._is_ticking = False
                self._idle.set()
            return self._is_ticking


def _look(watcher: Callable[[], bool]) -> bool:
    try:
        return watcher()
    except Exception:  # noqa: BLE001 - one view that fails must not stop the others
        _log.exception("A view of a run failed; it is not updated any more.")
        return False


ticker = Ticker()
"""The ticker of this process."""
