"""`current_run()`: the run through which an executor reports progress, logs and asks the user."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from threading import Thread, current_thread
from typing import Any, Generic, Protocol, TypeVar

from toolbench.runs.questions import Answer

T = TypeVar("T")


class CurrentRun(Protocol):
    """What an executor can do with the run in which it is called."""

    @property
    def cancelled(self) -> bool:
        """Whether the run is cancelled. If it is, an executor should end soon."""

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the run; None if it is not cancelled, or only its parent is."""

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Report progress: *value* of *total*, and a *message* about the current step."""

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the user a question during the run, and wait for the answer.

        The answer is a decline if nobody can answer, and a cancel if the run is cancelled. An
        `async` executor awaits `ask_async` instead.

        Args:
            message: The question.
            schema: The JSON Schema of the answer. If the schema describes an object, read the
                fields in the `content` of the answer; if not, read the `value` of the answer.
                Without a schema, the user answers yes or no.

        Raises:
            ToolbenchError: If called in the background loop, in which `async` executors run.
        """

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the user a question, as `ask` does; other tasks continue during the wait.

        This is for `async` executors.

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
        """Decline, because outside a run nobody can be asked."""
        return Answer("decline")

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Decline, because outside a run nobody can be asked."""
        return Answer("decline")

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Never call *callback*: outside a run nothing is cancelled."""
        return lambda: None


class Inherited(Generic[T]):
    """A context variable whose value is inherited by threads that the code starts.

    A new thread begins with an empty context. Therefore, the value is also kept in an attribute of
    the thread.
    """

    def __init__(self, name: str) -> None:
        """Create a variable called *name*, which has no value yet."""
        self.in_context: ContextVar[T | None] = ContextVar(name, default=None)
        """The value in the current context; None if only the thread has a value."""
        self._attribute = f"_{name}"

    def get(self) -> T | None:
        """Return the value for the calling code; None if there is none."""
        value = self.in_context.get()
        if value is None:
            value = self.of(current_thread())
        return value

    def of(self, thread: Thread) -> T | None:
        """Return the value that *thread* inherited; None if it inherited none."""
        value: T | None = getattr(thread, self._attribute, None)
        return value

    def enter(self, value: T) -> Callable[[], None]:
        """Set *value* for the calling code; return a function that restores the earlier value."""
        token = self.in_context.set(value)
        return lambda: self.in_context.reset(token)

    def hand_down(self, thread: Thread) -> None:
        """Let *thread* inherit the value of the calling code."""
        value = self.get()
        if value is not None:
            setattr(thread, self._attribute, value)


run_of_code: Inherited[CurrentRun] = Inherited("toolbench_run")
"""The run in which the calling code is executed."""


def current_run() -> CurrentRun:
    """Return the run that the calling code is part of; outside a run, an object that does nothing.

    Threads that an executor starts belong to the executor's run. A run has:

    | method or attribute | what it does |
    |---|---|
    | `progress(value, total, message)` | reports progress to a panel or, after a second, a cell |
    | `log(message)` | adds a line to the output |
    | `ask(message, schema)` | asks the user and waits; in an `async` tool, await `ask_async` |
    | `cancelled` | is true as soon as the tool should stop |
    | `on_cancel(callback)` | calls *callback* in another thread when the run has to stop |

    `ask` returns an `Answer`. Its `action` is `accept`, `decline` or `cancel`; `decline` also means
    that nobody can answer here. Its `value` is the answer.

    Examples:
        >>> from toolbench import current_run, tool
        >>> @tool
        ... def count(to: int) -> str:
        ...     "Count."
        ...     for n in range(to):
        ...         if current_run().cancelled:
        ...             return f"stopped at {n}"
        ...         current_run().progress(n + 1, to)
        ...     return f"counted to {to}"
        >>> count(to=3).text
        'counted to 3'
    """
    return active_run() or NoRun()


def active_run() -> CurrentRun | None:
    """Return the run in which the calling code is executed; None outside a run."""
    return run_of_code.get()
