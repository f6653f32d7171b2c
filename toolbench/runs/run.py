"""One execution of one tool: its state, its output and its end.

A run is stopped through its `control` (see `control.py`), and asks the user through its `dialogue`.
`run_here` creates a run that the calling thread waits for.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Event, Lock, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretBytes, SecretStr

from toolbench.core.coercion import masked_error
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.state import secrets_of
from toolbench.core.tool import ToolDefinition
from toolbench.errors import Problem
from toolbench.network import ErrorKind
from toolbench.redaction.known import KnownSecrets
from toolbench.runs.control import Control
from toolbench.runs.current_run import active_run
from toolbench.runs.dialogue import Dialogue
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.output import RunOutput
from toolbench.runs.progress import Progress, ProgressView
from toolbench.runs.questions import Answer, Asker, Question, decline

if TYPE_CHECKING:
    from toolbench.runs.policy import Refusal
    from toolbench.runs.record import SentArguments


State = Literal["new", "running", "waiting", "stopping", "ok", "error", "cancelled", "denied"]
Source = Literal["python", "magic", "button", "model", "agent", "app"]
_BY_USER: frozenset[Source] = frozenset({"python", "magic", "button"})
OUTSIDE: frozenset[Source] = frozenset({"agent", "app"})
"""The sources of calls that come from another program."""
ENDED: frozenset[State] = frozenset({"ok", "error", "cancelled", "denied"})
_RISK = "security_risk"


class Numbers:
    """The numbers of the runs of this process, beginning with 1; users refer to runs by number."""

    def __init__(self) -> None:
        """Begin with the number 1."""
        self._last = 0
        self._lock = Lock()

    def take(self) -> int:
        """Return the number of the next run."""
        with self._lock:
            self._last += 1
            return self._last

    def skip_to(self, number: int) -> None:
        """Continue after *number*, the highest of a history file, unless already beyond it."""
        with self._lock:
            self._last = max(self._last, number)

    def reset(self) -> None:
        """Begin with the number 1 again, like a new process."""
        with self._lock:
            self._last = 0


numbers = Numbers()
"""The numbers of this process."""


def _arguments_of(call: Any) -> dict[str, Any]:
    """Return the arguments of *call*, an action or a mapping; secrets in them are not masked."""
    if isinstance(call, Action):
        arguments = call.to_arguments()
        for name, field in type(call).model_fields.items():
            value = getattr(call, name, None)
            key = field.alias or name
            # The JSON of these types would be stars
            if key in arguments and isinstance(value, SecretStr | SecretBytes):
                arguments[key] = value
        return arguments
    if isinstance(call, Mapping):
        return dict(call)
    return {}


class Run:
    """One execution of one tool; any thread may read its state and cancel it.

    Attributes:
        control: The object that cancels and stops the run.
        dialogue: The object that asks the run's questions and keeps the answers.
        secrets: The object that masks the run's secrets.
        progress_view: The object that shows the run's progress in a cell.
    """

    is_renewed = False
    """Whether the tool's server has changed the tool since the run was created."""
    is_judged = False
    """Whether the policy has decided about the run, after asking the user if needed."""
    refusal: "Refusal | None" = None
    """Why the run may not start; None if it may start or the policy has not decided yet."""
    unchecked = False
    """Whether the arguments are sent unchecked, so that the server has to check them."""
    decision = ""
    """The decision of the policy and its reason; empty before the decision."""
    asks_because = ""
    """A reason to ask the user even if the policy allows the call."""
    observation: Observation | None = None
    problems: tuple[Problem, ...] = ()
    """The problems of the arguments, if the run failed because of them."""
    call_id = ""
    """The id that the model gave to its call; empty if no model made the call."""
    span: Any = None
    """The OpenTelemetry span of the run; None if no tracer is configured."""
    traceback = ""
    """The traceback of the error that the tool raised."""
    place = ""
    """Where in a cell the tool raised the error."""
    error_kind: ErrorKind | None = None
    """The kind of network error that the tool raised; None for other errors."""

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
        parent: "Run | None" = None,
    ) -> None:
        """Create a run without starting it; use `perform` or `start` of `runs.perform` to start it.

        Args:
            tool: The tool.
            call: An action of the tool, or its arguments as a model sends them. A `security_risk`
                that is not an argument of the tool is taken as the risk rating of the call.
            source: Where the run is started.
            action: The action, if it has already been created from *call*.
            asker: The function that answers questions.
            conversation: The second argument of the executor.
            risk: The risk rating of the call, if any.
            is_plain: Whether this is a direct call `tool(...)`: *call* is not changed, and errors
                are raised.
            parent: The run whose executor starts this run. The questions of this run are asked in
                the same way as those of *parent*.
        """
        # None until the run takes a number; `id` is never None
        self.number: int | None = None
        self.tool = tool
        self.arguments = _arguments_of(call)
        self.is_plain = is_plain
        if risk is None and not is_plain and _RISK in self.arguments:
            risk = self._take_rating()
        self.risk = risk
        self.source: Source = source
        self._call: Any = call
        if action is not None:
            self._call = action
        elif not is_plain and not isinstance(call, Action):
            self._call = self.arguments
        self._misfit: Exception | None = None
        self.action: Action | None = None
        """The action that is shown, asked about and executed; None before `build` creates it."""
        self.sent: SentArguments | None = None
        """The arguments for the record, as they were when the call began; None before that."""
        self.conversation = conversation
        secrets = None
        if conversation is not None:
            secrets = secrets_of(conversation)
        self.secrets = KnownSecrets(self.arguments, tool.secrecy, secrets)
        self.filled_in: set[str] = set()
        """The secrets filled in for this run and for the runs that it started; see `secret`."""
        self.parent = parent
        control_around = dialogue_around = None
        if parent is not None:
            # The parent may have passed its secrets on
            self.secrets.include(parent.secrets.own)
            control_around, dialogue_around = parent.control, parent.dialogue
        self.control: Control = Control(control_around)
        is_inside = source not in OUTSIDE
        self.dialogue: Dialogue = Dialogue(
            asker, self.secrets, dialogue_around, takes_presets=is_inside
        )
        self.progress_view = ProgressView(tool.title)
        self.done = Event()
        self.started = datetime.now(UTC)
        self._state: State = "new"
        self._clock = monotonic()
        self._ended: float | None = None
        self._version = 0
        self._lock = RLock()
        self._output: RunOutput | None = None

    def _take_rating(self) -> SecurityRisk | None:
        """Return the rating in the arguments; remove it if the tool has no such argument."""
        rating = self.arguments[_RISK]
        if _RISK not in self.tool.input_node.properties:
            del self.arguments[_RISK]
        try:
            return SecurityRisk(str(rating).upper())
        except ValueError:
            return None

    @property
    def id(self) -> int:
        """The number of the run that users see, taken when the run starts or is first read."""
        with self._lock:
            if self.number is None:
                self.number = numbers.take()
            return self.number

    @property
    def state(self) -> State:
        """The state of the run; it is "waiting" while one of the run's questions is open."""
        if self._state == "running" and self.dialogue.is_waiting:
            return "waiting"
        return self._state

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended."""
        return self._state in ENDED

    def build(self) -> Action:
        """Return the action, created by the first call; if that failed, raise the error again."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        if self.action is not None:
            return self.action
        if self._misfit is None:
            is_sent_anyway = self.unchecked and not isinstance(self._call, Action)
            take = self.tool.action_of
            if is_sent_anyway:
                take = self.tool.unchecked_action
            try:
                action: Action = take(self._call)
            except Exception as error:  # noqa: BLE001 - a validator of the tool's own
                self._misfit = masked_error(error, self.conversation)
            else:
                self.action = action
                # A default or the result of a validator may be a secret that the caller did not
                # send
                self.secrets.learn(action)
                return action
        # Outside `except`, so that the original error is not its context
        raise self._misfit

    def renew(self) -> bool:
        """Use the tool as its server lists it now; return whether its definition has changed.

        If it has changed, `build` checks the arguments again.
        """
        newest = self.tool.as_listed()
        if newest is self.tool:
            return False
        self.tool = newest
        if isinstance(self._call, Action):
            self._call = self._call.to_arguments()
        self.action, self._misfit, self.sent = None, None, None
        self.secrets.judge_by(newest.secrecy, self.arguments)
        return True

    # --- for executors, through `current_run()` ------------------------------------------

    @property
    def cancelled(self) -> bool:
        """Whether the run is cancelled."""
        return self.control.cancelled

    @property
    def cancelled_in(self) -> Thread | None:
        """The thread that cancelled the run; None if it is not cancelled, or only its parent is."""
        return self.control.cancelled_in

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call *callback* in another thread when the run is stopped; immediately if it already is.

        Returns:
            A function that removes the callback.
        """
        return self.control.on_cancel(callback)

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Report progress: *value* of *total*, and a *message* about the current step."""
        safe_message = self.secrets.redactor.text(str(message))
        if total is not None:
            total = float(total)
        self.progress_view.state = Progress(float(value), total, safe_message)
        self.changed()
        self.progress_view.draw()

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run."""
        self.output.write("log", f"{level}: {message}\n")

    def ask(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask the user a question; see `CurrentRun.ask`."""
        question = self._question(message, schema)
        return self.dialogue.completed(question, self.dialogue.put(question))

    async def ask_async(self, message: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Do the same as `ask`, without blocking the running loop; see `CurrentRun.ask_async`."""
        question = self._question(message, schema)
        return self.dialogue.completed(question, await self.dialogue.put_async(question))

    def _question(self, message: str, schema: Mapping[str, Any] | None) -> Question:
        text = self.secrets.redactor.text(message)
        return Question.about(text, schema, self.tool.title)

    @property
    def output(self) -> RunOutput:
        """The printed and displayed output of the run, unless a cell shows that output itself."""
        with self._lock:
            # Most runs have no output
            if self._output is None:
                self._output = RunOutput(self)
            return self._output

    # --- state -----------------------------------------------------------------------------

    @property
    def is_from_outside(self) -> bool:
        """Whether another program made this call, or made a call whose run contains this run."""
        return not OUTSIDE.isdisjoint(self._sources)

    @property
    def is_own(self) -> bool:
        """Whether the user, not a model or a program, made this call and all calls around it."""
        return self._sources <= _BY_USER

    @property
    def _sources(self) -> set[Source]:
        """The sources of this run and of all runs that contain it."""
        return {run.source for run in (*ancestors_of(self), self)}

    @property
    def version(self) -> int:
        """The number of changes so far; a view compares versions to notice a change."""
        return self._version + self.dialogue.version

    def changed(self) -> None:
        """Count a change, so that views of the run update."""
        with self._lock:
            self._version += 1

    def begin(self) -> None:
        """Set the state to "running" if the run is new."""
        with self._lock:
            if self._state == "new":
                self.enter("running")

    def enter(self, state: State) -> None:
        """Set the state to *state*, unless the run has ended."""
        with self._lock:
            if self.has_ended:
                return
            if self._state == "new":
                # The run needs its number before the runs inside it get theirs
                self.number = self.id
                # The run may have been created long before it starts
                self.started = datetime.now(UTC)
                self._clock = monotonic()
            self._state = state
            if state in ENDED:
                self.end_work()
                self.dialogue.end()
        self.changed()

    def end_work(self) -> None:
        """Stop counting `seconds`, because the tool has ended; the run may not be recorded yet."""
        if self._ended is None:
            self._ended = monotonic()

    @property
    def is_going_on(self) -> bool:
        """Whether callers still wait for the run, which has neither ended nor been given up."""
        return not (self.done.is_set() or self.control.is_given_up)

    def give_up(self) -> None:
        """Let callers stop waiting for this run, although its call has not returned.

        Use this for a run that was stopped but does not end. The run is still recorded when the
        call returns.
        """
        self.control.is_given_up = True
        self.changed()

    @property
    def outcome(self) -> Observation:
        """The observation of the run; an empty observation while there is none."""
        # not `or`: a tool's own observation may be falsy
        if self.observation is None:
            return Observation()
        return self.observation

    @property
    def seconds(self) -> float:
        """The seconds of work from the start to the end of the run, or until now, without waits."""
        end = self._ended
        if end is None:
            end = monotonic()
        return max(0.0, end - self._clock - self.dialogue.seconds)

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.tool.name}: {self.state}>"


def ancestors_of(run: Run) -> list[Run]:
    """Return the runs that contain *run*, outermost first."""
    ancestors = list[Run]()
    while run.parent is not None:
        run = run.parent
        ancestors.insert(0, run)
    return ancestors


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
    """Return a run of *tool* for `perform` in this thread.

    The current run, if any, becomes the parent of the new run. Questions of the new run are then
    asked in the same way as questions of the parent. Without a parent, they are asked by `input()`
    in the cell.

    Args:
        tool: The tool.
        call: An action of the tool, or its arguments.
        source: The kind of caller, such as `magic`.
        conversation: The conversation, which is the second argument of the executor.
        action: The action, if it has already been created from *call*.
        risk: The risk rating of the call, if any.
        is_plain: Whether this is a direct call `tool(call)`; see `Run`.
    """
    parent = active_run()
    run = Run(
        tool,
        call,
        source=source,
        action=action,
        asker=ask_in_cell,
        conversation=conversation,
        risk=risk,
        is_plain=is_plain,
        parent=parent if isinstance(parent, Run) else None,
    )
    run.progress_view.in_cell = True
    return run
