"""One execution of one tool: what it is doing, what it said, how it ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from threading import Event, RLock
from time import monotonic
from typing import Any, Literal

from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import Problem
from toolbench.runs.output import Output
from toolbench.runs.questions import YES_OR_NO, Answer, Asker, Question, decline

State = Literal[
    "new", "running", "waiting", "stopping", "ok", "error", "cancelled", "denied"
]
Source = Literal["python", "magic", "button"]
ENDED: frozenset[State] = frozenset({"ok", "error", "cancelled", "denied"})

_ids = count(1)


class RunCancelled(BaseException):
    """Raised inside a run that is being stopped; executors let it pass."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    value: float = 0.0
    total: float | None = None
    message: str = ""


class Run:
    """One execution of one tool; any thread may look and may cancel it."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        *,
        source: Source,
        asker: Asker = decline,
        conversation: Any = None,
    ) -> None:
        """Describe the run; `engine.perform` or `engine.start` sets it going.

        Args:
            tool: The tool.
            arguments: Its arguments, as a model sends them.
            source: Where the run was asked for.
            asker: Who answers questions.
            conversation: What the executor is given beside the action.
        """
        self.id = next(_ids)
        self.tool = tool
        self.arguments = dict(arguments)
        self.source: Source = source
        self.asker = asker
        self.conversation = conversation
        self.started = datetime.now(UTC)
        self.state: State = "new"
        self.action: Action | None = None
        self.observation: Observation | None = None
        self.problems: tuple[Problem, ...] = ()
        """What is wrong with the arguments, if that is why it failed."""
        self.unchecked = False
        """Send arguments that do not fit too, where somebody else judges them."""
        self.traceback = ""
        self.decision = ""
        self.output = Output()
        self.progress_state = Progress()
        self.done = Event()
        self.version = 0
        """Counts changes; who shows the run looks here for news."""
        self._clock = monotonic()
        self._seconds: float | None = None
        self._cancel = Event()
        self._reason = ""
        self._callbacks: list[Callable[[], object]] = []
        self._lock = RLock()

    # --- for executors --------------------------------------------------------------

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants the run to stop."""
        return self._cancel.is_set()

    @property
    def reason(self) -> str:
        """Why the run is to stop."""
        return self._reason

    def progress(
        self, value: float, total: float | None = None, message: str = ""
    ) -> None:
        """Say how far the work is: *value* of *total*, and what is being done."""
        self.progress_state = Progress(value, total, message)
        self.changed()

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""
        self.write("log", f"{level}: {message}\n")

    def ask(self, message: str, schema: dict[str, Any] | None = None) -> Answer:
        """Ask the person a question; see `CurrentRun.ask`."""
        question = Question(message, schema or YES_OR_NO, self.tool.title)
        before = self.state
        self.enter("waiting")
        try:
            answer = self.asker(question)
        finally:
            self.enter(before)
        if answer and question.schema is YES_OR_NO and not answer["answer"]:
            return Answer("decline")
        return answer

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Have *callback* called, from another thread, when the run is to stop."""
        with self._lock:
            self._callbacks.append(callback)
        if self.cancelled:
            callback()

    # --- for whoever runs and shows it ------------------------------------------------

    def write(self, stream: str, text: str) -> None:
        """Add *text* to the output."""
        self.output.write(stream, text)
        self.changed()

    def changed(self) -> None:
        """Note that there is something new to show."""
        self.version += 1

    def enter(self, state: State) -> None:
        """Go into *state*; a run that ended stays as it ended."""
        with self._lock:
            if self.state in ENDED:
                return
            if self.state == "new":
                self._clock = monotonic()
            self.state = state
            if state in ENDED:
                self._seconds = monotonic() - self._clock
        self.changed()

    def wants_cancel(self, reason: str) -> list[Callable[[], object]]:
        """Note that the run is to stop, and return whom to tell, once each."""
        with self._lock:
            if not self._cancel.is_set():
                self._reason = reason
            self._cancel.set()
            callbacks, self._callbacks = self._callbacks, []
        return callbacks

    @property
    def seconds(self) -> float:
        """How long the run has taken so far, or took."""
        return self._seconds if self._seconds is not None else monotonic() - self._clock

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.tool.name}: {self.state}>"
