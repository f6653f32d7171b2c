"""The background runs that are going on, each with its thread."""

from collections.abc import Iterator
from threading import Lock, Thread

from toolbench.runs.cancel import break_off, cancel
from toolbench.runs.run import Run


class Active:
    """Background runs. Any thread may look."""

    def __init__(self) -> None:
        """There are none."""
        self._threads: dict[Run, Thread] = {}
        self._lock = Lock()

    def add(self, run: Run, thread: Thread) -> None:
        """Note that *run* goes on in *thread*."""
        with self._lock:
            self._threads[run] = thread

    def remove(self, run: Run) -> None:
        """Note that *run* is over."""
        with self._lock:
            self._threads.pop(run, None)

    def stop(self, run: Run, reason: str = "cancelled") -> None:
        """Have *run* stop; one that is none of these is only asked. See `cancel`."""
        thread = self._threads.get(run)
        insist = None if thread is None else lambda: break_off(run, thread)
        cancel(run, insist, reason)

    def stop_all(self, reason: str) -> None:
        """Have all of them stop."""
        for run in self:
            self.stop(run, reason)

    def __iter__(self) -> Iterator[Run]:
        with self._lock:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)


active = Active()
"""The background runs of this process."""
