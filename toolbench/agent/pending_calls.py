"""Let a person edit, answer or refuse waiting calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolbench.agent.call_round import Round
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    ObservationEvent,
)
from toolbench.agent.rebuild import (
    refusal_of,
    understood,
    without_lost_secret,
)
from toolbench.core.coercion import ResultObservation, contents_of
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.serving.call_results import output_schema_of
from toolbench.serving.result_schema import unwrapped
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.agent.loop import Loop


Chosen = ActionEvent | str | int | None
"""A call: its event, the number of its event, or the id that the model gave the call."""


def chosen_of(current: Round | None, chosen: Chosen) -> list[ActionEvent]:
    """Return the waiting calls of the round *current*, or only the call *chosen*.

    Raises:
        ToolbenchError: If the chosen call does not wait.
    """
    waiting = [] if current is None else current.waiting
    if chosen is None:
        return waiting
    key = chosen.id if isinstance(chosen, ActionEvent) else chosen
    calls = [call for call in waiting if key in (call.id, call.tool_call_id)]
    if not calls:
        ids = ", ".join(repr(call.tool_call_id) for call in waiting) or "none"
        msg = f"No call {key!r} waits; {counted(len(waiting), 'call')} can be chosen: {ids}."
        raise ToolbenchError(msg)
    return calls[:1]


def edit(loop: "Loop", current: Round, call: ActionEvent, arguments: Any) -> None:
    """Change the arguments of *call* to *arguments*.

    Raises:
        ToolbenchError: If *arguments* is not a mapping, or not valid for the tool.
    """
    if not isinstance(arguments, Mapping):
        msg = f"Arguments are a dict of names and values, not {arguments!r}."
        raise ToolbenchError(msg)
    edited = replace(call.tool_call, arguments=dict(arguments), error=None, action=None)
    changed = understood(edited, loop)
    # Perhaps a mark in place of a secret
    if call.tool_call.error is not None:
        changed = without_lost_secret(changed)
    if changed.error is not None or changed.action is None:
        msg = f"The call was left as it is. {changed.error or 'It has no tool.'}"
        raise ToolbenchError(msg)
    event = loop.log.append(CallEdit(changed, action_id=call.id))
    current.edit(event)
    loop.log.tell(event)


def answer_by_hand(call: ActionEvent, result: Any) -> ObservationEvent:
    """Return an answer to *call* with *result*, which a person gave in place of the tool.

    Args:
        call: The call.
        result: An observation, or a value for its content: a text, contents, JSON.
    """
    is_observation = isinstance(result, Observation)
    observation = result if is_observation else Observation(content=contents_of(result))
    if isinstance(result, ResultObservation) and call.tool_call.tool is not None:
        observation = _unwrapped(call.tool_call.tool, result)
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
    is_same = value is answer.result
    return answer if is_same else answer.model_copy(update={"result": value})


class Pending:
    """The calls of one loop that wait for a person's decision."""

    def __init__(self, loop: "Loop", closed: Callable[[], object]) -> None:
        """Let a person decide about the calls of *loop*; call *closed* after each answer or refusal."""
        self._loop, self._closed = loop, closed

    @property
    def calls(self) -> Sequence[ActionEvent]:
        """The calls without an answer, with their present arguments."""
        return chosen_of(self._loop.round, None)

    def edit(self, chosen: Chosen, arguments: Any) -> None:
        """Change the arguments of the call *chosen*; see `Conversation.edit_pending`."""
        [call] = self._one(chosen)
        current = self._loop.round
        if current is not None:
            edit(self._loop, current, call, arguments)

    def answer(self, chosen: Chosen, result: Any) -> None:
        """Answer the call *chosen* by hand; see `Conversation.answer_pending`."""
        [call] = self._one(chosen)
        self._answer(answer_by_hand(call, result))

    def refuse(self, chosen: Chosen, reason: str) -> None:
        """Refuse the call *chosen* (None: all waiting calls). The model reads *reason* as its result."""
        calls = chosen_of(self._loop.round, chosen)
        self._answer(*(refusal_of(call, reason) for call in calls))

    def _one(self, chosen: Chosen) -> list[ActionEvent]:
        calls = chosen_of(self._loop.round, chosen)
        if len(calls) != 1:
            ids = ", ".join(repr(call.tool_call_id) for call in calls)
            count = counted(len(calls), "call")
            msg = f"{count} wait: name one of {ids}." if calls else "No call waits."
            raise ToolbenchError(msg)
        return calls

    def _answer(self, *answers: AnswerEvent) -> None:
        if self._loop.round is not None:
            self._loop.calls.answer(self._loop.round, *answers)
            self._closed()
