"""One execution of one tool: what it is doing, what it said, how it ended."""

from asyncio import to_thread, wrap_future
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from threading import Event, RLock, current_thread, main_thread
from time import monotonic
from typing import Any, Literal

from toolbench.core.portal import portal
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.state import secrets_of
from toolbench.core.tool import ToolDefinition
from toolbench.errors import Problem
from toolbench.runs.breaking import Breakable
from toolbench.runs.children import Children
from toolbench.runs.meter import Meter
from toolbench.runs.output import Output
from toolbench.runs.progress import Progress
from toolbench.runs.questions import (
    YES_OR_NO,
    Answer,
    Asker,
    Question,
    decline,
    presets,
)
from toolbench.runs.secrets import Confidence
from toolbench.runs.stopping import StopSign

State = Literal[
    "new", "running", "waiting", "stopping", "ok", "error", "cancelled", "denied"
]
Source = Literal["python", "magic", "button"]
ENDED: frozenset[State] = frozenset({"ok", "error", "cancelled", "denied"})
_RISK = "security_risk"


class _Numbers:
    """Numbers runs; a history read from a file continues where that left off."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin again with 1, as a new process does."""
        self._next = count(1)

    def take(self) -> int:
        return next(self._next)

    def skip_to(self, number: int) -> None:
        """Give no number up to *number* any more."""
        self._next = count(max(number + 1, next(self._next)))


numbers = _Numbers()


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
        risk: SecurityRisk | None = None,
    ) -> None:
        """Describe the run; `engine.perform` or `engine.start` sets it going.

        Args:
            tool: The tool.
            arguments: Its arguments, as a model sends them. A `security_risk` the tool has no
                argument for is taken as the rating of the call.
            source: Where the run was asked for.
            asker: Who answers questions.
            conversation: What the executor is given beside the action.
            risk: How the call was rated, if it was.
        """
        self.id = numbers.take()
        self.tool = tool
        self.arguments = dict(arguments)
        self.risk = risk or self._rating()
        self.source: Source = source
        self.asker = asker
        self.desk: Callable[[Question], Future[Answer]] | None = None
        """Where questions are handed to the thread that waits for the run, if one does."""
        self.conversation = conversation
        self.confidence = Confidence(
            self.arguments, tool.secrecy, secrets_of(conversation)
        )
        """What must not be shown of the run, and how to hide it."""
        self.parent: Run | None = None
        """The run whose executor asked for this one."""
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
        self.meter: Meter | None = None
        """Draws how far the run is, where a cell waits for it."""
        self.done = Event()
        self.version = 0
        """Counts changes; who shows the run looks here for news."""
        self.work = Breakable(RunCancelled)
        self.children = Children()
        self._clock = monotonic()
        self._seconds: float | None = None
        self._stop = StopSign()
        self._lock = RLock()

    def _rating(self) -> SecurityRisk | None:
        if _RISK not in self.arguments:
            return None
        given = self.arguments[_RISK]
        if _RISK not in self.tool.input_schema.get("properties", {}):
            del self.arguments[_RISK]
        with suppress(ValueError):
            return SecurityRisk(str(given).upper())
        return None

    # --- for executors --------------------------------------------------------------

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants the run to stop."""
        inherited = self.parent is not None and self.parent.cancelled
        return inherited or self._stop.is_up

    @property
    def reason(self) -> str:
        """Why the run is to stop."""
        return self._stop.reason

    def progress(
        self, value: float, total: float | None = None, message: str = ""
    ) -> None:
        """Say how far the work is: *value* of *total*, and what is being done."""
        said = self.confidence.hide_text(str(message))
        self.progress_state = Progress.of(value, total, said)
        self.changed()
        self.show_progress()

    def show_progress(self) -> None:
        """Show in the cell how far the run is; only the cell's own thread can."""
        if self.meter is not None:
            self.meter.draw(self.progress_state)

    @property
    def drawer(self) -> Callable[[], None] | None:
        """What shows how far the run is, for a wait in this thread; None where nothing can."""
        here = self.meter is not None and self.meter.is_here
        return self.show_progress if here else None

    def hide_progress(self) -> None:
        """Take away what `show_progress` showed."""
        if self.meter is not None:
            self.meter.erase()

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""
        self.write("log", f"{level}: {message}\n")

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person a question; see `CurrentRun.ask`."""
        return self.put(Question.about(message, schema, self.tool.title))

    def put(self, question: Question) -> Answer:
        """Put *question* to whoever answers; a yes-or-no question answered no is a decline.

        Raises:
            ToolbenchError: If the background loop would wait for the answer.
        """
        portal.refuse_inside("current_run().ask_async(message, schema)")
        with self._waiting():
            desk = self.desk
            answer = self.answer(question) if desk is None else desk(question).result()
        return _meant(question, answer)

    async def ask_async(
        self, message: str, schema: Mapping[str, Any] | None = None
    ) -> Answer:
        """Ask without blocking the running loop; see `CurrentRun.ask_async`."""
        question = Question.about(message, schema, self.tool.title)
        with self._waiting():
            answer = await self._answer_async(question)
        return _meant(question, answer)

    async def _answer_async(self, question: Question) -> Answer:
        if self.desk is not None:
            return await wrap_future(self.desk(question))
        if current_thread() is main_thread():  # the loop of a cell: `input()` works
            return self.answer(question)
        return await to_thread(self.answer, question)

    def answer(self, question: Question) -> Answer:
        """Have *question* answered in this thread: in advance, or else by the asker."""
        return (presets.asker or self.asker)(question)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._turn("running", "waiting")
        try:
            yield
        finally:
            self._turn("waiting", "running")

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have *callback* called, from another thread, when the run is to stop.

        Returns:
            A function that takes that back.
        """
        return self._stop.on_up(callback)

    # --- for whoever runs and shows it ------------------------------------------------

    def write(self, stream: str, text: str) -> None:
        """Add *text* to the output."""
        self.output.write(stream, self.confidence.hide_text(text))
        self.changed()

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add a mime bundle to the output; see `Output.show`."""
        self.output.show(self.confidence.hide(dict(data)), name)
        self.changed()

    def changed(self) -> None:
        """Note that there is something new to show."""
        with self._lock:
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

    def begin(self) -> None:
        """Note that the run goes on now, unless it is to stop already."""
        self._turn("new", "running")

    def _turn(self, before: State, after: State) -> None:
        """Go from one state to another, unless it is in a third by now."""
        with self._lock:
            if self.state == before:
                self.enter(after)

    def wants_cancel(self, reason: str) -> list[Callable[[], object]]:
        """Note that the run is to stop, and return whom to tell, once each."""
        return self._stop.put_up(reason)

    @property
    def outcome(self) -> Observation:
        """What came out so far: an empty observation while nothing did."""
        # not `or`: an observation of a tool's own may be falsy
        return Observation() if self.observation is None else self.observation

    @property
    def seconds(self) -> float:
        """How long the run has taken so far, or took."""
        return self._seconds if self._seconds is not None else monotonic() - self._clock

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.tool.name}: {self.state}>"


def _meant(question: Question, answer: Answer) -> Answer:
    no = answer and question.schema is YES_OR_NO and not answer.value
    return Answer("decline") if no else answer


class RunCancelled(BaseException):
    """Raised inside a run that is being stopped; executors let it pass."""
