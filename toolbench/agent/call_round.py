"""A round: the calls of one message of a model, until each is answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbench.agent.context import assistant_message
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    ObservationEvent,
    UserRejectObservation,
)
from toolbench.agent.toolset import AnyTool
from toolbench.core.builtins import FinishAction
from toolbench.core.coercion import ResultObservation, contents_of
from toolbench.core.content import Content
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.observations import read_by_model
from toolbench.errors import BodyError, Problem, ToolbenchError
from toolbench.llm.answers import result_part
from toolbench.llm.calls import (
    FunctionCallValidationError,
    ToolCall,
    parse_tool_calls,
)
from toolbench.llm.message import Message, Part, with_written_results
from toolbench.llm.providers import Provider
from toolbench.redaction import MARK
from toolbench.serving.call_results import output_schema_of
from toolbench.serving.result_schema import unwrapped
from toolbench.wording import counted

NOT_ANSWERED = "The call was interrupted; whether it did anything is not known."
Chosen = ActionEvent | str | int | None
"""A call: its event, the number of its event, or the id that the model gave the call."""


class Round:
    """The calls of one message of the model, and the answers so far."""

    def __init__(self, message: Message, calls: Sequence[ActionEvent]) -> None:
        """Make a round of *calls*, which are all calls of *message*. Each call waits for an answer."""
        self.message = message
        self.calls = list(calls)
        self._ids = frozenset(call.id for call in calls)
        self.answers: dict[int, AnswerEvent] = {}
        """The answers by the number of the call's event."""
        self.edited: set[int] = set()
        """The numbers of the calls whose arguments the user changed."""

    @property
    def waiting(self) -> list[ActionEvent]:
        """The calls without an answer."""
        return [call for call in self.calls if call.id not in self.answers]

    def edit(self, edit: CallEdit) -> None:
        """Change a waiting call as *edit* says."""
        changed = edit.tool_call
        for place, call in enumerate(self.calls):
            if call.id == edit.action_id:
                self.calls[place] = replace(call, tool_call=changed, action=changed.action)
        self.edited.add(edit.action_id)

    def answer(self, answer: AnswerEvent) -> None:
        """Add *answer*, if it is the first answer to a call of the round."""
        if answer.action_id is not None and answer.action_id in self._ids:
            self.answers.setdefault(answer.action_id, answer)

    @property
    def is_finished(self) -> bool:
        """Whether one of the calls ended the task."""
        for call in self.calls:
            if isinstance(call.action, FinishAction):
                answer = self.answers.get(call.id)
                if isinstance(answer, ObservationEvent) and not answer.observation.is_error:
                    return True
        return False

    @property
    def event_ids(self) -> list[int]:
        """The event numbers of the calls and answers in this round."""
        events = (*self.calls, *self.answers.values())
        # 0: not logged yet
        return [event.id for event in events if event.id]

    def messages(self) -> list[Message]:
        """Return the messages of the round: the model's message, and the answers to its calls.

        If the model wrote its calls as text, each answer is sent as text with the role of the user.
        """
        results: list[Part] = []
        for call in self.calls:
            observation = self.answers[call.id].answer
            results.append(result_part(call.tool_call, _readable(observation)))
        provider = self.calls[0].tool_call.metadata.provider
        answer = Message("tool", tuple(results))
        return list(with_written_results([self.message, answer], provider))


def _readable(observation: Observation) -> Observation:
    """Return *observation* in a form for the model, even if its own `to_llm_content` fails."""
    if type(observation).to_llm_content is Observation.to_llm_content:
        return observation
    return _Read(content=list(read_by_model(observation)), is_error=observation.is_error)


class _Read(Observation):
    """An observation whose content is sent to the model unchanged."""

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content without a header for a failed call: the content already says that it failed."""
        return self.content


# --- which calls; their answers by the user -----------------------------------------


def chosen_of(current: Round | None, chosen: Chosen) -> list[ActionEvent]:
    """Return the waiting calls of the round *current*, or only the call *chosen*.

    Raises:
        ToolbenchError: If the chosen call does not wait.
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
    """Return an answer to *call* with *result*, which the user gave in place of the tool.

    Args:
        call: The call.
        result: An observation, or a value for its content: a string, contents, JSON.
    """
    observation: Observation
    if not isinstance(result, Observation):
        observation = Observation(content=contents_of(result))
    elif isinstance(result, ResultObservation) and call.tool_call.tool is not None:
        observation = _unwrapped(call.tool_call.tool, result)
    else:
        observation = result
    return ObservationEvent(
        call.tool_call_id,
        observation,
        action_id=call.id,
        tool_name=call.tool_name,
        by_hand=True,
    )


def _unwrapped(tool: ToolDefinition[Any, Any], answer: ResultObservation) -> Observation:
    """Return *answer* with the data that *tool* itself would give.

    If the output schema of *tool* wraps results, `{"result": value}` becomes `value`.
    """
    value = unwrapped(output_schema_of(tool) or {}, answer.result)
    if value is answer.result:
        return answer
    return answer.model_copy(update={"result": value})


def refusal_of(call: ActionEvent, reason: str) -> UserRejectObservation:
    """Return the answer to *call*, which was declined or interrupted; *reason* says why."""
    return UserRejectObservation(
        call.tool_call_id, reason, action_id=call.id, tool_name=call.tool_name
    )


def understood(call: ToolCall, tools: Mapping[str, AnyTool], provider: Provider) -> ToolCall:
    """Parse *call* again with the present *tools*.

    If *call* is not valid for these tools, the result has an `error`.
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
    """Return *call*, with an `error` if its arguments have a mark in place of a secret."""
    message = (
        f"{MARK!r} stands here in place of a secret, which is never saved: edit the call and "
        "write the secret again, or answer the call by hand"
    )
    problems = [Problem(place, message) for place in _marked(call.arguments)]
    if not problems:
        return call
    error = FunctionCallValidationError(call.name, problems)
    return replace(call, error=error, action=None)


def _marked(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each string in *value* that contains the mark of a secret."""
    if isinstance(value, str) and MARK in value:
        yield place
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _marked(part, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _marked(part, (*place, number))
