"""Take back what the calls of a step did, where their tools can."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from toolbench.agent.events import ActionEvent, CallEdit, Event, ObservationEvent
from toolbench.core.schema import Observation
from toolbench.plain import sentence


@runtime_checkable
class Undoing(Protocol):
    """An executor that can take back what it did."""

    def undoes(self, action: Any) -> bool:
        """Tell whether *action* is of a kind that changes something."""

    def undo(self, action: Any) -> Observation:
        """Take back what *action* did, if it was the last to change its object."""


def last_edits(
    events: Iterable[Event], undone: Container[int]
) -> Sequence[ActionEvent]:
    """Return the calls of the last step that changed something a tool can take back.

    Args:
        events: All that happened.
        undone: The numbers of the calls that were taken back already.
    """
    answers: dict[int | None, ObservationEvent] = {}
    changed: dict[int, CallEdit] = {}
    steps: list[list[ActionEvent]] = []
    for event in events:
        if isinstance(event, ObservationEvent):
            answers[event.action_id] = event
        if isinstance(event, CallEdit):
            changed[event.action_id] = event
        if isinstance(event, ActionEvent):
            if event.metadata is None or event.metadata.index == 0 or not steps:
                steps.append([])
            steps[-1].append(event)
    edits = (
        [
            call
            for call in (_as_run(call, changed.get(call.id)) for call in step)
            if call.id in answers
            and _has_run(call, answers[call.id])
            and call.id not in undone
            and _changes(call)
        ]
        for step in reversed(steps)
    )
    return next(filter(None, edits), [])


def _as_run(call: ActionEvent, edit: CallEdit | None) -> ActionEvent:
    """Return *call* with the arguments that a person gave it, if there are such."""
    if edit is None:
        return call
    return replace(call, tool_call=edit.tool_call, action=edit.tool_call.action)


def _has_run(call: ActionEvent, answer: ObservationEvent) -> bool:
    """Tell whether the tool of *call* itself did it: no person, and no other tool in its place."""
    is_own = not answer.by_hand and answer.tool_name in ("", call.tool_name)
    return is_own and not answer.observation.is_error


def take_back_last(events: Iterable[Event], undone: set[int]) -> tuple[str, str]:
    """Take back the edits of the last step that has any, and add their numbers to *undone*.

    Returns:
        What the model is told, and what the person is; "" for nothing.
    """
    lines, failures = [], []
    for call in reversed(last_edits(events, undone)):
        observation = take_back(call)
        if observation.is_error:
            failures.append(f"{call.tool_name}: {observation.text}")
            continue
        undone.add(call.id)
        lines.append(f"{call.tool_name}: {observation.text}")
    report = ["[The person takes back what you did.]", *lines] if lines else []
    notice = ["This could not be taken back:", *failures] if failures else []
    if not lines and not failures:
        notice = ["No tool of the last step can take anything back."]
    return "\n".join(report), "\n".join(notice)


def _changes(call: ActionEvent) -> bool:
    executor = getattr(call.tool_call.tool, "executor", None)
    return isinstance(executor, Undoing) and executor.undoes(call.action)


def take_back(call: ActionEvent) -> Observation:
    """Have the tool of *call* take back what it did."""
    executor: Any = getattr(call.tool_call.tool, "executor", None)
    try:
        observation: Observation = executor.undo(call.action)
    except Exception as error:  # noqa: BLE001 - a tool's own code: the others are taken back
        return Observation.from_text(sentence(error), is_error=True)
    return observation
