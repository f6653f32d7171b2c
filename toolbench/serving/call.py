"""An agent's call of a served tool: its run, its questions, and the user's decisions."""

from asyncio import AbstractEventLoop, Queue
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from secrets import token_hex
from time import monotonic
from typing import Any

from toolbench.core.coercion import masked_observation
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.runs.control import Stop, StopCause, stop
from toolbench.runs.dialogue import settle
from toolbench.runs.perform import execute, start
from toolbench.runs.policy import policy
from toolbench.runs.questions import Answer, Question
from toolbench.runs.record import state_words
from toolbench.runs.run import ENDED, Run
from toolbench.serving.call_results import observation_by_hand, result_of
from toolbench.values import sentence, whole_characters

# Seconds that the user of the agent has to answer
CLIENT_PATIENCE = 600.0
# Consent to this call only: the user has not agreed to later calls
_YES_ONCE = Answer("accept", {"answer": True, "remember": False})


@dataclass(frozen=True)
class ProgressEvent:
    """The progress of the run."""

    value: float
    total: float | None
    message: str


@dataclass(frozen=True)
class LogEvent:
    """A log line of the run."""

    message: str
    level: str


@dataclass(frozen=True)
class QuestionEvent:
    """A question from the run to the user of the agent; the run waits for `reply`."""

    question: Question
    reply: "Future[Answer]"


@dataclass(frozen=True)
class EndEvent:
    """The end of the call, with the result to send as the answer to `tools/call`."""

    result: Mapping[str, Any]


Event = ProgressEvent | LogEvent | QuestionEvent | EndEvent


class ServedRun(Run):
    """A run that also sends its progress and log lines to the calling agent."""

    def __init__(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any], call: Any
    ) -> None:
        """Create a run of *tool* for *call*, the `ServedCall` that receives its events."""
        self._call_of_agent = call
        super().__init__(tool, arguments, source="agent", asker=call.ask)
        self.dialogue.when_changed = call.tell

    def progress(self, value: float, total: float | None = None, message: str = "") -> None:
        """Report progress to the views and to the agent."""
        super().progress(value, total, message)
        state = self.progress_view.state
        # JSON has only finite numbers
        if not isfinite(state.value):
            return
        total = state.total
        if total is not None and not isfinite(total):
            total = None
        event = ProgressEvent(state.value, total, whole_characters(state.message))
        self._call_of_agent.post(event)

    def log(self, message: str, level: str = "info") -> None:
        """Add a line to the output of the run, and send it to the agent."""
        super().log(message, level)
        text = self.secrets.redactor.text(str(message))
        self._call_of_agent.post(LogEvent(whole_characters(text), level))

    def changed(self) -> None:
        """Note that the run has changed, and notify the views of the call."""
        super().changed()
        self._call_of_agent.tell()

    def give_up(self) -> None:
        """Stop waiting for the run, and send the agent an error instead of a result."""
        super().give_up()
        text = f"{self.tool.name} was stopped, but does not end."
        outcome = Observation.from_text(text, is_error=True)
        self._call_of_agent.post(EndEvent(result_of(self.tool, outcome)))


@dataclass(frozen=True)
class _OpenQuestion:
    question: Question
    reply: "Future[Answer]"
    # A time of the monotonic clock
    until: float


class ServedCall:
    """A call of a served tool by an agent, with its state and result. Any thread may use it.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.serving import serve
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> server = serve(double)
        >>> headers = {"Authorization": f"Bearer {server.token}"}
        >>> agent = {"mcpServers": {"notebook": {"url": server.url, "headers": headers}}}
        >>> with create_mcp_tools(agent) as client:
        ...     result = client["double"](number=21)
        >>> [(call.tool, call.arguments, call.state) for call in server.calls]
        [('double', {'number': 21}, 'ok')]
        >>> server.close()
    """

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        *,
        client: str,
        answer_within: float,
        loop: AbstractEventLoop,
        asks_client: Callable[[Question], bool],
        changed: Callable[["ServedCall"], object] = lambda call: None,
        execute: Callable[[Run], Observation] = execute,
    ) -> None:
        """Prepare the run of the tool for this call; `begin` starts the run.

        Args:
            tool: The tool that is called.
            arguments: The arguments, as the agent sent them.
            client: The name of the agent's program.
            answer_within: How many seconds the user of the notebook has to answer a question.
            loop: The event loop of the server, to which the events of the call are passed.
            asks_client: A function that tells whether the agent can put a question to its own user.
            changed: A function that is called, from any thread, when views of the call must be
                updated.
            execute: The function that executes the tool.
        """
        self.client = client
        """The name that the agent's program reports; empty if it reports none."""
        self.key = token_hex(16)
        """A random key of the call; the agent sends answers to questions with this key."""
        self.events: Queue[Event] = Queue()
        self._answer_within = answer_within
        self._loop = loop
        self._asks_client = asks_client
        self._open_questions: list[_OpenQuestion] = []
        self._by_hand: Observation | None = None
        self._changed = changed
        self._execute = execute
        self.run = ServedRun(tool, arguments, self)

    # --- its state --------------------------------------------------------------------

    @property
    def id(self) -> int:
        """The number of the run in `history()`."""
        return self.run.id

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.run.tool.name

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments as the agent sent them; secrets, as marked in the schema, are hidden."""
        arguments: Mapping[str, Any] = self.run.secrets.arguments
        return arguments

    @property
    def state(self) -> str:
        """The state of the run: `running`, `waiting`, `ok`, `error`, `cancelled`, `denied`..."""
        return self.run.state

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.run.state in ENDED

    @property
    def seconds(self) -> float:
        """The seconds from the arrival of the call to its end, or until now."""
        return self.run.seconds

    @property
    def started(self) -> datetime:
        """The time at which the call arrived."""
        return self.run.started

    @property
    def observation(self) -> Observation:
        """The user's answer, or else the observation of the run; secrets are hidden."""
        outcome = self._by_hand or self.run.outcome
        return masked_observation(outcome, self.run.secrets.redactor)

    @property
    def questions(self) -> list[Question]:
        """The open questions to the user at the notebook, such as whether the call may run."""
        return [one.question for one in list(self._open_questions)]

    @property
    def by_hand(self) -> bool:
        """Whether the user has answered the call by `answer`, in place of the tool."""
        return self._by_hand is not None

    @property
    def patience(self) -> float | None:
        """The seconds left to answer the oldest open question; None if there is none."""
        return next(
            (max(0.0, one.until - monotonic()) for one in list(self._open_questions)),
            None,
        )

    def __repr__(self) -> str:
        return f"<Call {self.id} of {self.tool}: {self.state}>"

    # --- what the user decides --------------------------------------------------------

    def accept(self, content: Mapping[str, Any] | None = None) -> None:
        """Answer the oldest open question of the call with *content*; None means yes.

        If the question is whether the call may run, the call then runs.

        Raises:
            ToolbenchError: If there is no open question, for example because the call has ended.
        """
        answer = Answer("accept", {"answer": True} if content is None else content)
        if not self._reply(answer):
            how = self._end_words or "asks nothing now"
            msg = f"Call {self.id} of {self.tool} {how}: there is nothing to accept."
            raise ToolbenchError(msg)

    def refuse(self, reason: str = "") -> None:
        """Decline the oldest open question of the call. If there is no open question, stop the call.

        If the question is whether the call may run, the call does not run, and *reason* is sent to
        the agent.

        Raises:
            ToolbenchError: If the call has ended, or the user has already answered it by `answer`.
        """
        if not self._reply(Answer("decline", {"reason": reason})):
            if how := self._end_words:
                msg = f"Call {self.id} of {self.tool} {how}: there is nothing to refuse."
                raise ToolbenchError(msg)
            if reason:
                words = f": {reason}"
            else:
                words = ""
            self.stop(f"stopped by the user{words}")

    def answer(self, answer: Observation | Mapping[str, Any] | str) -> None:
        """Send *answer* to the agent instead of the tool's result.

        If the tool is running, it is stopped; otherwise, it is not started. A dict is treated like
        a value that the tool returns.

        Raises:
            ToolbenchError: If *answer* does not match the tool's output schema and is not a failed
                observation. Also if the call has ended, or has already been answered by this
                method.
        """
        if how := self._end_words:
            msg = f"Call {self.id} of {self.tool} {how}. Its agent takes no other answer."
            raise ToolbenchError(msg)
        observation = observation_by_hand(self.run.tool, answer)
        self._by_hand = observation
        if self._is_undecided and self._reply(_YES_ONCE):
            return
        self.post(EndEvent(result_of(self.run.tool, observation)))
        self.stop("answered by hand")

    def reply(self, question: Question, answer: Answer) -> bool:
        """Answer *question* with *answer*; return False if *question* is no longer open."""
        return any(
            one.question is question and settle(one.reply, answer)
            for one in list(self._open_questions)
        )

    def stop(self, reason: str) -> None:
        """Stop the run; *reason* becomes part of its result."""
        stop(self.run, Stop(StopCause.PROGRAM, reason))

    @property
    def _end_words(self) -> str:
        """How the call ended, in words; empty if it has not ended."""
        if self.by_hand:
            return "was answered by hand"
        if self.is_over:
            return f"has ended ({state_words(self.state, self.run.outcome)})"
        return ""

    @property
    def _is_undecided(self) -> bool:
        """Whether it is not decided yet if the call may run; an open question is about that."""
        return not self.run.decision

    def _reply(self, answer: Answer) -> bool:
        """Answer the oldest open question with *answer*; return False if there is none."""
        return any(settle(one.reply, answer) for one in list(self._open_questions))

    # --- what the run and the server do -----------------------------------------------

    def begin(self, *, confirm: bool, asks_because: str = "") -> None:
        """Start the run in a separate thread.

        Args:
            confirm: Whether the user is asked first if the policy requires consent.
            asks_because: The reason to ask the user even if the policy allows the call. If empty,
                only the policy decides.
        """
        self.run.asks_because = asks_because
        start(self.run, confirm=confirm, work=self._work, then=self._end)

    def accept_if(self, asks_because: str, *, confirm: bool = True) -> None:
        """Let the call run if it waits for consent only because of *asks_because*.

        If *confirm* is True and the policy requires consent too, the call continues to wait.
        """
        if self.run.asks_because != asks_because:
            return
        self.run.asks_because = ""
        is_needed = confirm and policy.ruling(self.run).verdict == "ask"
        if self._is_undecided and not is_needed:
            self._reply(_YES_ONCE)

    def _work(self, run: Run) -> Observation:
        if self._by_hand is None:
            return self._execute(run)
        run.decision = "answered by hand"
        return self._by_hand

    def _end(self, run: Run) -> None:
        outcome = run.outcome
        # The tool succeeded although it was stopped
        if run.cancelled and not outcome.is_error:
            outcome = Observation(content=outcome.content, is_error=True)
        try:
            result = result_of(run.tool, outcome)
        except Exception as error:  # noqa: BLE001 - a user's class may raise any error
            text = f"The result of {run.tool.name} cannot be sent: {sentence(error)}."
            hidden = run.secrets.redactor.text(text)
            failure = Observation.from_text(hidden, is_error=True)
            result = result_of(run.tool, failure)
        self.post(EndEvent(result))

    def tell(self) -> None:
        """Notify the views that the call has changed."""
        self._changed(self)

    def post(self, event: Event) -> None:
        """Send *event* to the event loop of the server, which answers the agent."""
        # If the server was closed, no agent is waiting
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.events.put_nowait, event)

    def ask(self, question: Question) -> Answer:
        """Ask the user of the agent, or the user at the notebook; return the answer."""
        reply: Future[Answer] = Future()
        forget = self.run.on_cancel(lambda: settle(reply, Answer("cancel")))
        try:
            if question.consent is None and self._asks_client(question):
                self.post(QuestionEvent(question, reply))
                answer = _waited(reply, CLIENT_PATIENCE)
                if answer is None:
                    return Answer("cancel")
                return answer
            return self._ask_here(question, reply)
        finally:
            forget()

    def _ask_here(self, question: Question, reply: "Future[Answer]") -> Answer:
        mine = _OpenQuestion(question, reply, monotonic() + self._answer_within)
        self._open_questions.append(mine)
        self.run.changed()
        try:
            answer = _waited(reply, self._answer_within)
        finally:
            self._open_questions.remove(mine)
            self.run.changed()
        if answer is not None:
            return answer
        absence = f"no answer came within {self._answer_within:g} seconds"
        return Answer("decline", by_somebody=False, absence=absence)


def _waited(reply: "Future[Answer]", seconds: float) -> Answer | None:
    try:
        return reply.result(seconds)
    except TimeoutError:
        # Use an answer that arrives at this very moment
        if settle(reply, Answer("cancel")):
            return None
        return reply.result()
