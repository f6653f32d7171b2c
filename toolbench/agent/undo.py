"""Undo the edits of a step, if its tools can.

A tool can undo its own edits if its executor has two methods: `undoes(action)` tells whether *action*
was an edit, and `undo(action)` restores what was there before and returns an observation. The
executor keeps what it needs for that, so an edit of an earlier session cannot be undone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbench.agent.events import (
    ActionEvent,
    CallEdit,
    Event,
    MessageEvent,
    ObservationEvent,
)
from toolbench.core.schema import Observation
from toolbench.values import sentence


@dataclass(frozen=True)
class Edit:
    """A call that changed something, and the answer to the call."""

    call: ActionEvent
    answer: ObservationEvent


@dataclass(frozen=True)
class Undone:
    """The result of undoing a step."""

    report: str
    """The message for the model; "" for none."""
    notice: str
    """The message for the user; "" for none."""
    calls: tuple[int, ...]
    """The numbers of the undone calls."""


def last_edits(events: Sequence[Event]) -> Sequence[Edit]:
    """Find the last step with edits that a tool can undo, and return these edits.

    Edits that were already undone do not count.
    """
    answers: dict[int | None, ObservationEvent] = {}
    changed: dict[int, CallEdit] = {}
    undone: set[int] = set()
    for event in events:
        if isinstance(event, ObservationEvent):
            answers[event.action_id] = event
        elif isinstance(event, CallEdit):
            changed[event.action_id] = event
        elif isinstance(event, MessageEvent):
            undone.update(event.undone)
    for step in reversed(_steps(events)):
        edits: list[Edit] = []
        for made in step:
            call = _as_run(made, changed.get(made.id))
            answer = answers.get(call.id)
            if answer is not None and call.id not in undone and _can_undo(call, answer):
                edits.append(Edit(call, answer))
        if edits:
            return edits
    return []


def _steps(events: Iterable[Event]) -> list[list[ActionEvent]]:
    """Return the calls among *events*, those of one answer of the model together."""
    steps: list[list[ActionEvent]] = []
    for event in events:
        if isinstance(event, ActionEvent):
            if event.metadata is None or event.metadata.index == 0 or not steps:
                steps.append([])
            steps[-1].append(event)
    return steps


def _as_run(call: ActionEvent, edit: CallEdit | None) -> ActionEvent:
    """Return *call* with the arguments of *edit*, if the user changed them."""
    if edit is None:
        return call
    return replace(call, tool_call=edit.tool_call, action=edit.tool_call.action)


def _can_undo(call: ActionEvent, answer: ObservationEvent) -> bool:
    """Tell whether the tool of *call* made an edit that it can undo, and gave *answer* itself."""
    if answer.by_hand or answer.observation.is_error:
        return False
    # Else a backup tool took its place
    if answer.tool_name not in ("", call.tool_name):
        return False
    executor: Any = getattr(call.tool_call.tool, "executor", None)
    if not hasattr(executor, "undoes") or not hasattr(executor, "undo"):
        return False
    return bool(executor.undoes(call.action))


def take_back_last(events: Sequence[Event]) -> Undone:
    """Undo all edits of the last step of *events* that made edits."""
    lines, failures, calls = [], [], []
    for edit in reversed(last_edits(events)):
        observation, name = take_back(edit), edit.call.tool_name
        if observation.is_error:
            failures.append(f"{name}: {observation.text}")
            continue
        calls.append(edit.call.id)
        lines.append(f"{name}: {observation.text}")
    report, notice = list[str](), list[str]()
    if lines:
        report = ["[The person takes back what you did.]", *lines]
    if failures:
        notice = ["This could not be taken back:", *failures]
    elif not lines:
        notice = ["No tool of the last step can take anything back."]
    return Undone("\n".join(report), "\n".join(notice), tuple(calls))


def take_back(edit: Edit) -> Observation:
    """Let the tool that made *edit* undo it."""
    executor: Any = getattr(edit.call.tool_call.tool, "executor", None)
    try:
        observation: Observation = executor.undo(edit.call.action)
    except Exception as error:  # noqa: BLE001 - a tool's own code; other edits are undone
        return Observation.from_text(sentence(error), is_error=True)
    return observation
