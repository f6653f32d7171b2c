"""The time in which a run waits for people: it is no work of the tool."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic


class WaitingTime:
    """The seconds in which one run waited; waits at the same time count once. Any thread may use it."""

    def __init__(self) -> None:
        """Begin with no wait."""
        self._seconds = 0.0
        # The waits that go on
        self._count = 0
        self._begin = 0.0
        self._is_over = False
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """The seconds of all waits until now."""
        with self._lock:
            return self._seconds + self._present()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of the `with` block as a wait."""
        with self._lock:
            if not self._count:
                self._begin = monotonic()
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._seconds += self._present() if self._count == 1 else 0.0
                self._count -= 1

    def end(self) -> None:
        """Count no time from now on: the run has ended, perhaps with an open question."""
        with self._lock:
            self._seconds += self._present()
            self._is_over = True

    def _present(self) -> float:
        """Return the seconds since all present waits began; 0 without a wait, or after the end."""
        return 0.0 if self._is_over or not self._count else monotonic() - self._begin
