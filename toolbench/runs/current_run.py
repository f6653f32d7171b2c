"""What an executor may say and ask while it runs; outside a run, quietly nothing."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from threading import Thread, current_thread
from typing import Any, Protocol

from toolbench.runs.questions import Answer


class CurrentRun(Protocol):
    """The run an executor is part of."""

    @property
    def cancelled(self) -> bool:
        """Whether the run is cancelled: an executor should end soon."""

    def progress(
        self, value: float, total: float | None = None, message: str = ""
    ) -> None:
        """Say how far the work is: *value* of *total*, and what is being done."""

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person a question in the middle of the work, and wait for the answer.

        Where no person can answer, the answer is a decline, at once; where the run is being cancelled, a cancel.
        An `async` executor awaits `ask_async` instead.

        Args:
            message: The question.
            schema: The JSON Schema of the answer. The fields of an object are the content of
                the answer; anything else is its `value`. Without a schema: yes or no.

        Raises:
            ToolbenchError: If the background loop would wait, in which `async` executors run.
        """

    async def ask_async(
        self, message: str, schema: Mapping[str, Any] | None = None
    ) -> Answer:
        """Ask as `ask` does, from an `async` executor: other tasks go on meanwhile.

        Args:
            message: The question.
            schema: The JSON Schema of the answer, as of `ask`.
        """

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have *callback* called, from another thread, when the run is to stop.

        Returns:
            A function that takes that back.
        """


class NoRun:
    """Stands in for a run where there is none: executors work anywhere."""

    cancelled = False

    def progress(
        self, value: float, total: float | None = None, message: str = ""
    ) -> None:
        """Go nowhere."""

    def log(self, message: str, level: str = "info") -> None:
        """Go nowhere."""

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Decline: outside a run no person can be asked."""
        return Answer("decline")

    async def ask_async(
        self, message: str, schema: Mapping[str, Any] | None = None
    ) -> Answer:
        """Decline: outside a run no person can be asked."""
        return Answer("decline")

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Never call *callback*: outside a run nothing is cancelled."""
        return lambda: None


_here: ContextVar[CurrentRun | None] = ContextVar("toolbench_run", default=None)
_INHERITED = "_toolbench_run"  # what a thread got from the one that started it


def current_run() -> CurrentRun:
    """Return the run this code is part of; outside one, a stand-in that does nothing.

    Threads an executor starts belong to its run.
    """
    return active_run() or NoRun()


def active_run() -> CurrentRun | None:
    """Return the run this code is part of, or None."""
    run = _here.get()
    return run if run is not None else inherited_run(current_thread())


def inherited_run(thread: Thread) -> CurrentRun | None:
    """Return the run *thread* was started by, or None."""
    run: CurrentRun | None = getattr(thread, _INHERITED, None)
    return run


def enter(run: CurrentRun | None) -> Callable[[], None]:
    """Make *run* the current one here; call what is returned to go back."""
    token = _here.set(run)
    return lambda: _here.reset(token)


def hand_down(thread: Thread) -> None:
    """Let *thread*, about to start, belong to the run of the one that starts it."""
    run = active_run()
    if run is not None:
        setattr(thread, _INHERITED, run)
