"""The list of the background runs, each with its thread."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, Thread
from typing import TYPE_CHECKING

from toolbench.runs.cancellation.cancel_token import RunCancelled
from toolbench.runs.cancellation.cancellation import break_off, cancel

if TYPE_CHECKING:
    from toolbench.runs.run import Run
from toolbench.threads import daemon_thread


class Active:
    """The list of the background runs; any thread may use this list."""

    def __init__(self) -> None:
        """Make an empty list of runs."""
        self._threads: dict[Run, Thread] = {}
        self._lock = Lock()

    def start(self, run: "Run", work: Callable[[], object], then: Callable[[], object]) -> Thread:
        """Start *work* in a new daemon thread, and return the thread.

        *run* is in this list until *work* ends. On a Python without threads, *work* has already
        ended when this method returns.

        Args:
            run: The run.
            work: The function that executes the run.
            then: A function that is called in the thread after the run has left this list.
        """

        def body() -> None:
            try:
                # Comes when work is over
                with suppress(RunCancelled):
                    work()
            finally:
                with self._lock:
                    self._threads.pop(run, None)
                then()

        thread = daemon_thread(copy_context().run, body, name=f"toolbench-run-{run.id}")
        with self._lock:
            self._threads[run] = thread
        thread.start()
        return thread

    def stop(self, run: "Run", reason: str = "cancelled") -> None:
        """Cancel *run*; if *run* is in this list, also use force on its thread. See `cancel`."""
        thread = self._threads.get(run)
        insist = None if thread is None else lambda: break_off(run, thread)
        cancel(run, insist, reason)

    def stop_all(self, reason: str) -> None:
        """Cancel every background run."""
        for run in self:
            self.stop(run, reason)

    def __iter__(self) -> "Iterator[Run]":
        with self._lock:
            return iter(list(self._threads))

    def __len__(self) -> int:
        return len(self._threads)


active = Active()
"""The background runs of this process."""
