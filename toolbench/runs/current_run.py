"""`current_run()`: the run to which an executor reports progress and logs, and puts questions."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from threading import Thread, current_thread
from typing import Any, Protocol

from toolbench.runs.questions import Answer


class CurrentRun(Protocol):
    """What an executor can do with the run that it is part of."""

    @property
    def cancelled(self) -> bool:
        """Whether the run is cancelled: an executor should end soon."""

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the run; None if it is not cancelled, or by its parent only."""

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Report progress: *value* of *total*, and a *message* about the present step of the work."""

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person a question during the work, and wait for the answer.

        The answer is a decline if no person can answer, and a cancel if the run is cancelled. An
        `async` executor awaits `ask_async` instead.

        Args:
            message: The question.
            schema: The JSON Schema of the answer. If the schema describes an object, read the
                fields in the `content` of the answer; if not, read the `value` of the answer.
                Without a schema, the person answers yes or no.

        Raises:
            ToolbenchError: If called in the background loop, in which `async` executors run.
        """

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Do the same as `ask`, but for an `async` executor: other tasks continue meanwhile.

        Args:
            message: The question.
            schema: The JSON Schema of the answer, as in `ask`.
        """

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call *callback* in another thread when the run has to stop.

        Returns:
            A function that removes the callback.
        """


class NoRun:
    """The object that `current_run()` returns outside a run, so that executors work anywhere."""

    cancelled = False
    cancelled_in: Thread | None = None

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Do nothing."""

    def log(self, message: str, level: str = "info") -> None:
        """Do nothing."""

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Decline: outside a run no person can be asked."""
        return Answer("decline")

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Decline: outside a run no person can be asked."""
        return Answer("decline")

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Never call *callback*: outside a run nothing is cancelled."""
        return lambda: None


run_in_context: ContextVar[CurrentRun | None] = ContextVar("toolbench_run", default=None)
"""The run that the calling code is part of, unless only its thread tells."""
# Attribute of a thread: the run of the thread that started it
_INHERITED = "_toolbench_run"


def current_run() -> CurrentRun:
    """Return the run that the calling code is part of; outside a run, an object that does nothing.

    Threads that an executor starts belong to the executor's run.
    """
    return active_run() or NoRun()


def active_run() -> CurrentRun | None:
    """Return the run that the calling code is part of; None outside a run."""
    run = run_in_context.get()
    if run is None:
        run = inherited_run(current_thread())
    return run


def inherited_run(thread: Thread) -> CurrentRun | None:
    """Return the run that started *thread*; None if no run started it."""
    run: CurrentRun | None = getattr(thread, _INHERITED, None)
    return run


def enter(run: CurrentRun | None) -> Callable[[], None]:
    """Make *run* the current run of the calling code; return a function that undoes this."""
    token = run_in_context.set(run)
    return lambda: run_in_context.reset(token)


def hand_down(thread: Thread) -> None:
    """Make *thread*, which is not started yet, belong to the run of the calling thread."""
    run = active_run()
    if run is not None:
        setattr(thread, _INHERITED, run)
