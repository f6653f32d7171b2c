"""A run, one execution of one tool: its state, its output and its end.

`run_here` makes a run that the calling thread waits for.
"""

from asyncio import sleep, to_thread, wrap_future
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from threading import Event, RLock, Thread, current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from toolbench.core.background_loop import portal
from toolbench.core.coercion import masked_error
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.state import secrets_of
from toolbench.core.tool import ToolDefinition
from toolbench.errors import Problem
from toolbench.network_errors import ErrorKind
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import KnownSecrets
from toolbench.runs.argument_forms import arguments_of, forms_by_action
from toolbench.runs.control import CancelToken, Children, Interruptible, RunCancelled
from toolbench.runs.current_run import active_run
from toolbench.runs.dialogue import WaitingTime
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.numbering import numbers
from toolbench.runs.output import Output, OutputFilter
from toolbench.runs.progress import CellProgress, Progress
from toolbench.runs.questions import (
    Answer,
    Asker,
    Preset,
    Question,
    decline,
    preset_in_context,
)
from toolbench.threads import have_threads

if TYPE_CHECKING:
    from toolbench.runs.policy import Refusal


State = Literal["new", "running", "waiting", "stopping", "ok", "error", "cancelled", "denied"]
Source = Literal["python", "magic", "button", "model", "agent", "app"]
OUTSIDE: frozenset[Source] = frozenset({"agent", "app"})
"""The sources of calls that come from another program."""
ENDED: frozenset[State] = frozenset({"ok", "error", "cancelled", "denied"})
_RISK = "security_risk"


class Run:
    """One execution of one tool; any thread may read its state and cancel it."""

    is_renewed = False
    """Whether the server of the tool has changed it since the run was made."""
    is_judged = False
    """Whether the policy has decided about the run, and a person was asked if needed."""
    refusal: "Refusal | None" = None
    """Why the run may not start; None if it may, or is not judged yet."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        call: Any,
        *,
        source: Source,
        action: Action | None = None,
        asker: Asker = decline,
        conversation: Any = None,
        risk: SecurityRisk | None = None,
        is_plain: bool = False,
    ) -> None:
        """Make a run that is not started; `engine.perform` or `engine.start` starts it.

        Args:
            tool: The tool.
            call: An action of the tool, or its arguments as a model sends them. A `security_risk`
                that is not an argument of the tool is the rating of the call.
            source: Where the run is started.
            action: The action, if it was made from these arguments already.
            asker: The function that answers questions.
            conversation: The second argument of the executor.
            risk: The rating of the call, if any.
            is_plain: Whether this is a direct call: *call* stays unchanged, errors are raised.
        """
        # Of its record; `id` is never None
        self.number: int | None = None
        self.tool = tool
        self.arguments = arguments_of(call)
        self.is_plain = is_plain
        self.risk = risk if is_plain else risk or self._rating()
        self.source: Source = source
        as_sent = call if is_plain or isinstance(call, Action) else self.arguments
        self._call: Any = as_sent if action is None else action
        self._misfit: Exception | None = None
        self.action: Action | None = None
        """The action that is shown, asked about and executed; None until `build` has made it."""
        self.forms = dict[str, Any]()
        """The JSON form of each argument with Python objects; empty until `build` has made the action."""
        self.asker = asker
        self.desk: Callable[[Question], Future[Answer]] | None = None
        """Sends a question to the thread that waits for the run; None if this is not needed."""
        # Of the block that starts the run; other threads of the run do not know it
        self._preset = preset_in_context()
        self.conversation = conversation
        secrets = None if conversation is None else secrets_of(conversation)
        self.secrets = KnownSecrets(self.arguments, tool.secrecy, secrets)
        """The secrets of the run, and how to hide them."""
        # The run whose executor started this run
        self.parent: Run | None = None
        self.started = datetime.now(UTC)
        self.state: State = "new"
        self.observation: Observation | None = None
        self.problems: tuple[Problem, ...] = ()
        """The problems of the arguments, if the run failed because of them."""
        # Also send arguments that the server has to check
        self.unchecked = False
        # Of its error; the place is in a cell
        self.traceback = self.place = ""
        # Of the policy; the other is a reason to ask although the policy allows it
        self.decision = self.asks_because = ""
        # Of the error that the tool raised
        self.error_kind: ErrorKind | None = None
        self.progress_state = Progress()
        self.is_of_a_cell = False
        """Whether the run was made in the thread that then waits for it, such as the thread of a cell."""
        self._cell_progress: CellProgress | None = None
        self.done = Event()
        # Was stopped, but its call goes on
        self.is_stuck = False
        # Counts the changes; a view compares it to notice one
        self.version = 0
        self.work = Interruptible(RunCancelled)
        self._clock = monotonic()
        self._ended: float | None = None
        self.waiting_time = WaitingTime()
        # To its questions, and those of its children
        self.answers: list[Answer] = []
        # The questions that have no answer yet
        self.unanswered: list[Question] = []
        self._cancel_token = CancelToken()
        self._lock = RLock()
        self._filter: OutputFilter | None = None
        self._output: Output | None = None
        self._children: Children | None = None

    @property
    def id(self) -> int:
        """The number of the run, for people. The run takes it when it starts, or is first asked for it."""
        with self._lock:
            if self.number is None:
                self.number = numbers.take()
            return self.number

    @property
    def output(self) -> Output:
        """The printed and displayed output of the run; most runs of a cell print to the cell instead."""
        with self._lock:
            if self._output is None:
                self._output = Output()
            return self._output

    @property
    def filter(self) -> OutputFilter:
        """The filter that hides the run's secrets in its output."""
        with self._lock:
            if self._filter is None:
                self._filter = OutputFilter(self.secrets, self.done)
            return self._filter

    @property
    def children(self) -> Children:
        """The known processes that the run started, to kill them if needed."""
        with self._lock:
            if self._children is None:
                self._children = Children()
            return self._children

    def _rating(self) -> SecurityRisk | None:
        if _RISK not in self.arguments:
            return None
        rating = self.arguments[_RISK]
        if _RISK not in self.tool.input_node.properties:
            del self.arguments[_RISK]
        with suppress(ValueError):
            return SecurityRisk(str(rating).upper())
        return None

    def build(self) -> Action:
        """Return the action, which is made only once; if this fails, each call raises the same error."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        if self.action is not None:
            return self.action
        if self._misfit is None:
            is_sent_anyway = self.unchecked and not isinstance(self._call, Action)
            tool = self.tool
            take = tool.unchecked_action if is_sent_anyway else tool.action_of
            try:
                action: Action = take(self._call)
            except Exception as error:  # noqa: BLE001 - a validator of the tool's own
                self._misfit = masked_error(error, self.conversation)
            else:
                self.action = action
                self.forms = forms_by_action(action, self.arguments)
                defaults = len(type(action).model_fields) - len(action.model_fields_set)
                if self.secrets.own.secrets or defaults:
                    self.secrets.learn(action)
                return action
        # Outside `except`, so that the original error is not its context
        raise self._misfit

    def renew(self) -> bool:
        """Take the tool as its server lists it now; tell whether that is another definition.

        The arguments are then checked again: see `build`.
        """
        newest = self.tool.as_listed()
        if newest is self.tool:
            return False
        self.tool = newest
        if isinstance(self._call, Action):
            self._call = self._call.to_arguments()
        self.action, self._misfit = None, None
        self.secrets.judge_by(newest.secrecy, self.arguments)
        return True

    # --- for executors --------------------------------------------------------------

    @property
    def cancelled(self) -> bool:
        """Whether the run is cancelled."""
        inherited = self.parent is not None and self.parent.cancelled
        return inherited or self._cancel_token.cancelled

    @property
    def reason(self) -> str:
        """The reason why the run has to stop; empty if it does not have to."""
        return self._cancel_token.reason

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the run; None if it is not cancelled, or by its parent only."""
        return self._cancel_token.cancelled_in

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Report progress: *value* of *total*, and a *message* about the present step of the work."""
        safe_message = self.secrets.redactor.text(str(message))
        self.progress_state = Progress.of(value, total, safe_message)
        self.changed()
        self.show_progress()

    @property
    def cell_progress(self) -> CellProgress | None:
        """The object that draws the progress in the cell that waits for the run; None outside a cell."""
        if self._cell_progress is None and self.is_of_a_cell:
            self._cell_progress = CellProgress.here(self.tool)
        return self._cell_progress

    def show_progress(self) -> None:
        """Show the progress of the run in the cell; only the thread of the cell can do this."""
        if (cell_progress := self.cell_progress) is not None:
            cell_progress.draw(self.progress_state)

    @property
    def drawer(self) -> Callable[[], None] | None:
        """The function that shows progress during a wait; None if this thread cannot show it."""
        cell_progress = self.cell_progress
        is_here = cell_progress is not None and cell_progress.is_here
        return self.show_progress if is_here else None

    def hide_progress(self) -> None:
        """Remove the progress that `show_progress` showed in the cell."""
        if self._cell_progress is not None:
            self._cell_progress.erase()

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""
        self.write("log", f"{level}: {message}\n")

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the person a question; see `CurrentRun.ask`."""
        question = self._question(message, schema)
        return self._completed(question, self.put(question))

    def _question(self, message: str, schema: Mapping[str, Any] | None) -> Question:
        text = self.secrets.redactor.text(message)
        return Question.about(text, schema, self.tool.title)

    def put(self, question: Question) -> Answer:
        """Ask *question* and return the answer; "no" to a yes-or-no question becomes a decline.

        Raises:
            ToolbenchError: If called in the background loop.
        """
        portal.refuse_inside("current_run().ask_async(message, schema)")
        with self._waiting(question):
            answer = self._answer(question)
        return self._answered(question, answer)

    def _answer(self, question: Question) -> Answer:
        if (preset := self.preset_for(question)) is not None:
            return preset(question)
        if self.desk is not None and have_threads():
            return self.desk(question).result()
        return self.asker(question)

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Do the same as `ask`, without blocking the running loop; see `CurrentRun.ask_async`."""
        question = self._question(message, schema)
        with self._waiting(question):
            answer = await self._answer_async(question)
        return self._completed(question, self._answered(question, answer))

    def _answered(self, question: Question, answer: Answer) -> Answer:
        if question.consent is None:
            self._learn(question, answer)
            recorded = answer.to(question)
            for run in self._outward():
                run.answers.append(recorded)
        for run in self._outward():
            run.unanswered.remove(question)
        return question.meaning_of(answer)

    def _completed(self, question: Question, answer: Answer) -> Answer:
        """Return *answer* with the defaults of *question*; their secrets are hidden from now on."""
        complete = question.with_defaults(answer)
        if complete is not answer:
            self._learn(question, complete)
        return complete

    def _learn(self, question: Question, answer: Answer) -> None:
        """Hide the secrets of *answer* in the output of this run and of all runs around it."""
        secrecy = Secrecy(question.schema)
        for run in self._outward():
            run.secrets.learn(answer.content or {}, secrecy)

    def _outward(self) -> "Iterator[Run]":
        """Yield this run and the runs around it, up to the outermost."""
        run: Run | None = self
        while run is not None:
            yield run
            run = run.parent

    async def _answer_async(self, question: Question) -> Answer:
        if (preset := self.preset_for(question)) is not None:
            # Other tasks of the tool have a turn, as if a person answered
            await sleep(0)
            return preset(question)
        if self.desk is not None:
            return await wrap_future(self.desk(question))
        # The loop of a cell: `input()` works
        if current_thread() is main_thread():
            return self.asker(question)
        return await to_thread(self.asker, question)

    @property
    def is_from_outside(self) -> bool:
        """Whether another program made the call, or a call that this run is a part of."""
        return any(run.source in OUTSIDE for run in self._outward())

    def preset_for(self, question: Question) -> Preset | None:
        """Return the preset that answers *question* of this run; None if a person is asked.

        It is of a block around the calling code, or else around the start of the run. A call from
        outside has no preset.
        """
        if self.source in OUTSIDE:
            return None
        for innermost in (preset_in_context(), self._preset):
            if innermost is not None and (preset := innermost.of(question)) is not None:
                return preset
        return None

    @contextmanager
    def _waiting(self, question: Question) -> Iterator[None]:
        with ExitStack() as waits:
            for run in self._outward():
                run.unanswered.append(question)
                waits.enter_context(run.waiting_time.counted())
            self._turn("running", "waiting")
            waits.callback(self._turn, "waiting", "running")
            yield

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call *callback* in another thread when the run has to stop; in this one if it has to already.

        Returns:
            A function that removes the callback.
        """
        return self._cancel_token.on_cancel(callback)

    # --- for the engine and views -----------------------------------------------------

    def write(self, stream: str, text: str) -> None:
        """Add *text* to the output of the run, as text of *stream*; secrets are hidden."""
        if self.secrets.redactor:
            self.filter.write(stream, text, self._show)
        else:
            self._show(stream, text)

    def _show(self, stream: str, safe_text: str) -> None:
        self.output.write(stream, safe_text)
        self.changed()

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add a mime bundle to the output of the run, with secrets hidden; see `Output.show`."""
        self.output.show(self.filter.bundle(data), name)
        self.changed()

    def changed(self) -> None:
        """Count a change, so that the views of the run show it."""
        with self._lock:
            self.version += 1

    def enter(self, state: State) -> None:
        """Set the state to *state*, unless the run has ended."""
        with self._lock:
            if self.state in ENDED:
                return
            if self.state == "new":
                # Before the numbers of the runs inside of it
                self.number = self.id
                self._clock = monotonic()
            self.state = state
            if state in ENDED:
                self._ended = monotonic()
                self.waiting_time.end()
        self.changed()

    def begin(self) -> None:
        """Set the state "running", if the run is new."""
        self._turn("new", "running")

    def _turn(self, before: State, after: State) -> None:
        """Change the state from *before* to *after*; do nothing if the state is not *before*."""
        with self._lock:
            if self.state == before:
                self.enter(after)

    @property
    def has_ended(self) -> bool:
        """Whether the run is over."""
        return self.state in ENDED

    def wants_cancel(self, reason: str) -> list[Callable[[], object]]:
        """Mark the run as cancelled; return the callbacks that no earlier call of this method returned."""
        return self._cancel_token.request(reason)

    def give_up(self) -> None:
        """Mark the run as stuck: callers stop waiting for it. It is still recorded when it ends."""
        self.is_stuck = True
        self.changed()

    @property
    def outcome(self) -> Observation:
        """The observation of the run; an empty observation before there is one."""
        # not `or`: a tool's own observation may be falsy
        return Observation() if self.observation is None else self.observation

    @property
    def waited(self) -> float:
        """The seconds in which the run, or a run inside of it, waited for a person, until now."""
        return self.waiting_time.seconds

    @property
    def seconds(self) -> float:
        """The seconds of work from the start of the run to its end, or until now, without `waited`."""
        end = monotonic() if self._ended is None else self._ended
        return max(0.0, end - self._clock - self.waited)

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.tool.name}: {self.state}>"


def run_here(
    tool: ToolDefinition[Any, Any],
    call: Any,
    source: Source = "python",
    conversation: Any = None,
    *,
    action: Action | None = None,
    risk: SecurityRisk | None = None,
    is_plain: bool = False,
) -> Run:
    """Return a run of *tool* for `perform` in this thread; the current run becomes its parent, if any.

    Its questions are asked like those of its parent; without a parent, by `input()` in the cell.

    Args:
        tool: The tool.
        call: An action of the tool, or the arguments for it.
        source: Where the run is started.
        conversation: The second argument of the executor.
        action: The action, if it was made from *call* already.
        risk: The rating of the call, if any.
        is_plain: Whether this is a direct call `tool(call)`; see `Run`.
    """
    run = Run(
        tool,
        call,
        source=source,
        action=action,
        asker=ask_in_cell,
        conversation=conversation,
        risk=risk,
        is_plain=is_plain,
    )
    run.is_of_a_cell = True
    parent = active_run()
    if isinstance(parent, Run):
        run.parent = parent
        run.asker = parent.asker
        run.desk = parent.desk
        run.secrets.inherit(parent.secrets)
    return run


def preset_here(question: Question) -> Preset | None:
    """Return the preset that answers *question* of the calling code; None if a person is asked.

    It is the one of the current run, or else of the `answering` around the calling code.
    """
    run = active_run()
    if isinstance(run, Run):
        return run.preset_for(question)
    innermost = preset_in_context()
    return None if innermost is None else innermost.of(question)
