"""Run the tool calls that the model made in one message, in parallel if their resources allow it.

For each call, exactly one answer is logged: its result, an error, or a refusal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from json import dumps
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from toolbench.agent.agent import Agent
from toolbench.agent.context import assistant_message
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    AnswerEvent,
    CallEdit,
    Event,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
    UserRejectObservation,
    begins_answer,
)
from toolbench.agent.masking import Masking
from toolbench.agent.recovery import Recovery, error_class
from toolbench.agent.security_analyzer import LLMSecurityAnalyzer
from toolbench.agent.state import AgentState, Round
from toolbench.agent.toolset import AnyTool, Toolset
from toolbench.core.coercion import ResultObservation, contents_of
from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.core.security import SecurityRisk
from toolbench.errors import BodyError, Problem, ToolbenchError
from toolbench.llm.calls import FunctionCallValidationError, ToolCall, parse_tool_calls
from toolbench.llm.message import Provider
from toolbench.llm.models import Usage
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.runs.control import CANCELLED, INTERRUPTED, CancelToken, stop
from toolbench.runs.exception_text import sentence_of
from toolbench.runs.parallel import perform_together
from toolbench.runs.questions import Asker
from toolbench.runs.redirect import redirect_to
from toolbench.runs.run import Run, run_here
from toolbench.serving.call_results import output_schema_of
from toolbench.serving.result_schema import unwrapped
from toolbench.values import plain, sentence
from toolbench.wording import counted

NOT_ANSWERED = "The call was interrupted; whether it did anything is not known."
_NOT_BEGUN = "The call was not begun: the conversation was interrupted before."
_LEFT = "does not stop: it goes on in the background, and its answer will not be used."
_EDITED = "\n[The user changed the arguments before the call ran. It ran with: "
# Seconds that stopped calls have to end before they are left alone
PATIENCE = 0.5
Chosen = ActionEvent | str | int | None
"""How to name a call: by its event, the event's number, or the id that the model gave it."""


class Calls:
    """Runs the calls of one conversation, and logs an answer to each call."""

    def __init__(
        self,
        agent: Agent,
        conversation: Any,
        toolset: Toolset,
        agent_state: AgentState,
        spend: Callable[[Usage | None], object],
    ) -> None:
        """Run the calls of *agent_state* with the tools of *toolset* and the settings of *agent*.

        *conversation* is passed to the tools. If a model rates the calls, *spend* is called with
        the tokens and cost of each rating.
        """
        self._spend = spend
        self._agent = agent
        self._conversation = conversation
        self._toolset = toolset
        self._agent_state = agent_state
        self._recovery = Recovery(
            agent.recovery, agent_state.stopping, self._carry_out_again, self._note
        )
        self._running: list[Run] = []
        self._in_progress: dict[int, Run | None] = {}
        """The running calls by number, each with its run, or None until the run is created."""
        self._token: CancelToken | None = None
        self._stopped_at: float | None = None
        self.asker: Asker | None = None
        """Answers the questions of the tools and the policy; if None, the user is asked in the
        cell."""

    def interrupt(self) -> None:
        """Stop the running calls, and any request that rates calls.

        The stopped calls are answered as interrupted.
        """
        self._stopped_at = monotonic()
        if (token := self._token) is not None:
            token.cancel("the conversation was interrupted")
        for run in tuple(self._running):
            stop(run, INTERRUPTED)

    def run(self, current: Round, chosen: Chosen = None) -> None:
        """Run the pending calls in *current*, and log an answer to each call.

        If the user stops the work before the calls run, the calls stay pending.

        Args:
            current: The calls that the model made in one message.
            chosen: The call to run. If left out, all pending calls run.
        """
        self._token, self._stopped_at = CancelToken(), None
        try:
            self._run(current, chosen)
        except BaseException:
            # Then `answer_interrupted` answers each call
            self._await_stopped()
            raise
        finally:
            self._running, self._token = [], None
        self._in_progress = {}

    def _await_stopped(self) -> None:
        """Give the calls that are being stopped a moment to return partial results."""
        end = monotonic() + PATIENCE
        for run in self._running:
            # One that has just been cancelled is still being recorded
            if run.state != "new":
                run.done.wait(max(0.0, end - monotonic()))

    @property
    def asking(self) -> frozenset[int]:
        """The numbers of the running calls whose tools have asked the user a question."""
        # A copy: another thread may change it
        runs = dict(self._in_progress).items()
        return frozenset(id_ for id_, run in runs if run and run.state == "waiting")

    def mark_running(self, current: Round, chosen: Chosen = None) -> None:
        """Mark the pending calls in *current*, or only the call *chosen*, as running."""
        self._in_progress = {call.id: None for call in chosen_of(current, chosen)}

    def answer_interrupted(self, current: Round) -> None:
        """After an interrupt, answer each call in *current* that was running.

        If the call has already ended, the answer is its result. Otherwise, the answer says that the
        call was interrupted. A call that already has an answer is left alone.
        """
        runs = self._in_progress
        left = [call for call in current.waiting if call.id in runs]
        self._agent_state.add(*(_interrupted(call, runs[call.id]) for call in left))
        self._in_progress = {}

    def _run(self, current: Round, chosen: Chosen) -> None:
        token, stopping = self._token or CancelToken(), self._agent_state.stopping
        self.mark_running(current, chosen)
        ids, runs = self._in_progress.keys(), dict[int, Run]()

        def waiting() -> list[ActionEvent]:
            return [call for call in current.waiting if call.id in ids]

        for call in waiting():
            if (misfit := self._misfit(call)) is not None:
                self._agent_state.add(misfit)
        for call in waiting():
            runs[call.id] = self._in_progress[call.id] = self._run_of(call, token)
            if stopping.is_set():
                return
        self._running = list(runs.values())
        # It may have been set since the last check
        if stopping.is_set():
            return
        self._carry_out(self._running)
        for call in waiting():
            answer = self._ended(call, runs[call.id])
            if call.id in current.edited:
                answer = _with_edit(answer, call)
            self._agent_state.add(answer)

    # --- before ----------------------------------------------------------------------

    def _misfit(self, call: ActionEvent) -> AgentErrorEvent | None:
        """Return an error event if *call* cannot run, else None."""
        tool_call = call.tool_call
        if self._agent_state.repeats.is_third(call):
            error = (
                f"{call.tool_name} was called like this twice already, and the answer would "
                "be the same; it was not run a third time."
            )
        elif tool_call.error is not None:
            error = str(tool_call.error) + self._recovery.reflection(call.tool_name)
        else:
            return None
        return AgentErrorEvent(
            call.tool_call_id, error, action_id=call.id, tool_name=call.tool_name
        )

    def _run_of(self, call: ActionEvent, token: CancelToken) -> Run:
        # `_misfit` has checked that it is there
        tool: Any = call.tool_call.tool
        run = run_here(
            tool,
            call.tool_call.arguments,
            "model",
            self._conversation,
            action=call.action,
            risk=self._risk_of(call, token),
        )
        run.call_id = call.tool_call_id
        if self.asker is not None and run.parent is None:
            run.dialogue.asker = self.asker
        return run

    def _risk_of(self, call: ActionEvent, token: CancelToken) -> SecurityRisk | None:
        analyzer = self._agent.security_analyzer
        if analyzer is None:
            return call.tool_call.security_risk
        try:
            # An analyzer may ask a model
            call = self._masked(call)
            if isinstance(analyzer, LLMSecurityAnalyzer):
                return analyzer.rate(call, token, self._spend)
            return analyzer.security_risk(call)
        except Exception as error:  # noqa: BLE001 - a call without a rating counts as HIGH
            if not token.cancelled:
                text = f"{call.tool_name} could not be rated, so it counts as HIGH"
                self._note(f"{text}: {sentence_of(error)}")
            return SecurityRisk.HIGH

    def _masked(self, call: ActionEvent) -> ActionEvent:
        """Return *call*, for the analyzer, with the secrets of the conversation masked."""
        masking = Masking(self._conversation.state.secrets.redactor)
        arguments = masking.values(call.tool_call.arguments)
        return replace(call, tool_call=replace(call.tool_call, arguments=arguments))

    # --- meanwhile -------------------------------------------------------------------

    def _carry_out(self, runs: Sequence[Run]) -> None:
        """Carry out *runs*, each in its own thread, until they end or soon after the user's stop.

        The threads make it possible to stop without waiting for a tool. In a cell, what the tools
        print appears in the cell. After a click on a button, it is stored in the run of each tool.
        """
        work_in: Callable[[Run], AbstractContextManager[object]] | None = _printing_apart
        if current_thread() is main_thread():
            work_in = None
        perform_together(
            runs,
            max_parallel=self._agent.max_parallel,
            work_in=work_in,
            is_left=self._is_left,
        )
        for run in runs:
            if run.state != "new" and not run.done.is_set():
                self._note(f"{run.tool.name} {_LEFT}")

    def _is_left(self) -> bool:
        """Tell whether the user's stop was `PATIENCE` seconds ago, so tools are left behind."""
        begun = self._stopped_at
        return begun is not None and monotonic() - begun > PATIENCE

    # --- afterwards ------------------------------------------------------------------

    def _ended(self, call: ActionEvent, run: Run) -> AnswerEvent:
        """Return the answer of *run* to *call*, after any retries and the backup tool."""
        if not run.done.is_set():
            return _interrupted(call, run)
        run = self._recovery.recovered(run, self._toolset.tools)
        answer = _answer_of(call, run)
        is_failure = error_class(run) not in (None, "refused", "stopped")
        if isinstance(answer, ObservationEvent) and is_failure:
            return _with_note(answer, self._recovery.reflection(call.tool_name))
        return answer

    def _carry_out_again(self, run: Run) -> None:
        self._running.append(run)
        self._carry_out([run])

    def _note(self, text: str) -> None:
        hide = self._conversation.state.secrets.redactor.text
        self._agent_state.add(NoticeEvent(hide(text)))


def _answer_of(call: ActionEvent, run: Run) -> AnswerEvent:
    """Return the answer event for *call*, which *run* carried out."""
    if run.state == "denied":
        return refusal_of(call, run.outcome.text)
    stopped = ""
    if run.state == "cancelled":
        stopped = (run.control.why or CANCELLED).words
    return ObservationEvent(
        call.tool_call_id,
        run.outcome,
        action_id=call.id,
        tool_name=run.tool.name,
        run_id=run.id,
        seconds=run.seconds,
        waited=run.dialogue.seconds,
        stopped=stopped,
        version=run.tool.version,
    )


def _printing_apart(run: Run) -> AbstractContextManager[object]:
    """Redirect the output of this thread to *run*, in a `with` block."""
    return redirect_to(run.output)


def _interrupted(call: ActionEvent, run: Run | None) -> AnswerEvent:
    if run is not None and run.done.is_set():
        return _answer_of(call, run)
    is_begun = run is not None and run.state != "new"
    reason = _NOT_BEGUN
    if is_begun:
        reason = NOT_ANSWERED
    return replace(refusal_of(call, reason), rejection_source="interrupt")


def _with_edit(answer: AnswerEvent, call: ActionEvent) -> AnswerEvent:
    """Add a note to *answer* that the user changed the arguments of *call*."""
    if not isinstance(answer, ObservationEvent):
        return answer
    arguments = dumps(plain(call.shown_arguments), ensure_ascii=False)
    return _with_note(answer, f"{_EDITED}{arguments}]")


def _with_note(answer: ObservationEvent, note: str) -> ObservationEvent:
    """Add *note* to *answer*, at the end of the content for the model."""
    if not note:
        return answer
    observation = answer.observation
    content = [*observation.content, TextContent(text=note)]
    noted = observation.model_copy(update={"content": content})
    return replace(answer, observation=noted)


# --- which calls; their answers by the user -----------------------------------------


def chosen_of(current: Round | None, chosen: Chosen) -> list[ActionEvent]:
    """Return the pending calls in *current*, or only the call *chosen*.

    Raises:
        ToolbenchError: If the chosen call is not pending.
    """
    waiting: list[ActionEvent] = []
    if current is not None:
        waiting = current.waiting
    if chosen is None:
        return waiting
    if isinstance(chosen, ActionEvent):
        chosen = chosen.id
    for call in waiting:
        if chosen in (call.id, call.tool_call_id):
            return [call]
    ids = ", ".join(repr(call.tool_call_id) for call in waiting) or "none"
    msg = f"No call {chosen!r} waits; {counted(len(waiting), 'call')} can be chosen: {ids}."
    raise ToolbenchError(msg)


def answer_by_hand(call: ActionEvent, result: Any) -> ObservationEvent:
    """Return an answer to *call* that contains *result*, which the user wrote.

    Args:
        call: The call.
        result: An `Observation`, a string, content blocks, or any JSON value.
    """
    observation: Observation
    if not isinstance(result, Observation):
        observation = Observation(content=contents_of(result))
    elif isinstance(result, ResultObservation) and call.tool_call.tool is not None:
        # The data that the tool itself would give: its output schema may wrap them
        value = unwrapped(output_schema_of(call.tool_call.tool) or {}, result.result)
        observation = result.model_copy(update={"result": value})
    else:
        observation = result
    return ObservationEvent(
        call.tool_call_id,
        observation,
        action_id=call.id,
        tool_name=call.tool_name,
        by_hand=True,
    )


def refusal_of(call: ActionEvent, reason: str) -> UserRejectObservation:
    """Return the answer to a *call* that was declined or interrupted; *reason* says why."""
    return UserRejectObservation(
        call.tool_call_id, reason, action_id=call.id, tool_name=call.tool_name
    )


# --- parsed again --------------------------------------------------------------------


def understood(call: ToolCall, tools: Mapping[str, AnyTool], provider: Provider) -> ToolCall:
    """Parse *call* again with the present *tools*.

    If *call* is not valid for these tools, the returned call has an `error`.
    """
    known_call = replace(call, tool=tools.get(call.name))
    message = assistant_message("", [known_call], provider)
    try:
        [read] = parse_tool_calls(message, tools, provider=provider)
    except (BodyError, ValueError):
        return call
    return replace(
        read,
        id=call.id,
        thought=call.thought,
        summary=call.summary,
        security_risk=call.security_risk,
        metadata=replace(call.metadata, provider=provider),
    )


def without_lost_secret(call: ToolCall) -> ToolCall:
    """Return *call*, with an `error` if an argument has the mark for a masked secret."""
    message = (
        f"{MARK!r} is here in place of a secret, which is never saved: edit the call and "
        "write the secret again, or answer the call by hand"
    )
    problems = [Problem(place, message) for place in _marked(call.arguments)]
    if not problems:
        return call
    error = FunctionCallValidationError(call.name, problems)
    return replace(call, error=error, action=None)


def _marked(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each string in *value* that contains the mark for a masked secret."""
    if isinstance(value, str) and MARK in value:
        yield place
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _marked(part, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _marked(part, (*place, number))


# --- undo -----------------------------------------------------------------------------
# A tool can undo its own edits if its executor has two methods: `undoes(action)` tells whether
# *action* was an edit, and `undo(action)` restores the earlier state and returns an observation.
# The executor keeps the earlier state in memory, so edits of an earlier session cannot be undone.


def undo_last(events: Sequence[Event], redactor: Redactor) -> list[Event]:
    """Undo the edits of one step: the newest step in *events* with edits that can be undone.

    Steps whose edits were already undone are skipped. *redactor* masks secrets in the result.

    Returns:
        The events to log. A notice tells the user which edits could not be undone, and a message
        tells the model which edits were undone.
    """
    report, notice, undone = list[str](), list[str](), list[int]()
    for call in reversed(_last_edits(events)):
        observation = _undo(call)
        line = f"{call.tool_name}: {observation.text}"
        if observation.is_error:
            notice.append(line)
        else:
            report.append(line)
            undone.append(call.id)
    if notice:
        notice.insert(0, "This could not be taken back:")
    elif not report:
        notice = ["No tool of the last step can take anything back."]
    said: list[Event] = []
    if notice:
        said.append(NoticeEvent(redactor.text("\n".join(notice))))
    if report:
        text = "\n".join(["[The user takes back what you did.]", *report])
        content = (TextContent(text=redactor.text(text)),)
        said.append(MessageEvent(content, source="environment", undone=tuple(undone)))
    return said


def _last_edits(events: Sequence[Event]) -> list[ActionEvent]:
    answers: dict[int | None, ObservationEvent] = {}
    changed: dict[int, CallEdit] = {}
    undone: set[int] = set()
    edits: list[ActionEvent] = []
    # From the end, so that the answer to a call comes before the call
    for event in reversed(events):
        if isinstance(event, ObservationEvent):
            answers[event.action_id] = event
        elif isinstance(event, CallEdit):
            changed.setdefault(event.action_id, event)
        elif isinstance(event, MessageEvent):
            undone.update(event.undone)
        elif isinstance(event, ActionEvent):
            call, edit, answer = event, changed.get(event.id), answers.get(event.id)
            # What ran is what the user made of it
            if edit is not None:
                call = replace(call, tool_call=edit.tool_call, action=edit.tool_call.action)
            if answer is not None and call.id not in undone and _can_undo(call, answer):
                edits.insert(0, call)
            if edits and begins_answer(event):
                break
    return edits


def _can_undo(call: ActionEvent, answer: ObservationEvent) -> bool:
    """Tell whether the tool of *call* gave *answer* itself, and can undo the edit that it made."""
    if answer.by_hand or answer.observation.is_error:
        return False
    # Else a backup tool took its place
    if answer.tool_name not in ("", call.tool_name):
        return False
    executor: Any = getattr(call.tool_call.tool, "executor", None)
    if not hasattr(executor, "undoes") or not hasattr(executor, "undo"):
        return False
    return bool(executor.undoes(call.action))


def _undo(call: ActionEvent) -> Observation:
    executor: Any = getattr(call.tool_call.tool, "executor", None)
    try:
        observation: Observation = executor.undo(call.action)
    except Exception as error:  # noqa: BLE001 - a tool's own code; other edits are undone
        return Observation.from_text(sentence(error), is_error=True)
    return observation
