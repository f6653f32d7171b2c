"""The background runs that are going on, each with its thread."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, Thread

from toolbench.runs.cancel import break_off, cancel
from toolbench.runs.run import Run, RunCancelled


class Active:
    """Background runs. Any thread may look."""

    def __init__(self) -> None:
        """There are none."""
        self._threads: dict[Run, Thread] = {}
        self._lock = Lock()

    def start(
        self, run: Run, work: Callable[[], object], then: Callable[[], object]
    ) -> Thread:
        """Do *work* in a daemon thread of its own, and return that; *run* is among these meanwhile.

        Args:
            run: The run.
            work: Carries it out.
            then: Is called in the thread when the run is none of these any more.
        """

        def body() -> None:
            try:
                with suppress(RunCancelled):  # injected when it was as good as over
                    work()
            finally:
                with self._lock:
                    self._threads.pop(run, None)
                then()

        thread = Thread(
            target=copy_context().run,
            args=(body,),
            name=f"toolbench-run-{run.id}",
            daemon=True,
        )
        with self._lock:
            self._threads[run] = thread
        thread.start()
        return thread

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
