"""Undo the edits of a step, if its tools can."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from toolbench.agent.events import (
    ActionEvent,
    CallEdit,
    Event,
    MessageEvent,
    ObservationEvent,
)
from toolbench.core.schema import Observation
from toolbench.runs.consent_question import one_line
from toolbench.runs.dialogue import answer_here
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.questions import YES_OR_NO, Asker, ConsentLabels, Question
from toolbench.values import sentence

_DECLINED = (
    "No person agreed to restore the saved version; `with answering(True):` agrees in advance."
)


@runtime_checkable
class Undoing(Protocol):
    """The protocol of executors that can undo their own edits."""

    def undoes(self, action: Any) -> bool:
        """Tell whether *action* is an edit that can be undone."""

    def undo(self, action: Any) -> Observation:
        """Undo the edit *action*, if its object, such as a file, was not changed later.

        Return the result.
        """


@runtime_checkable
class UndoingRecorded(Undoing, Protocol):
    """The protocol of executors that can also undo edits of a loaded or forked conversation."""

    def remembers(self, action: Any) -> bool:
        """Tell whether this executor itself made the edit *action*, so that `undo` can undo it."""

    def undo_recorded(self, action: Any, observation: Any) -> Observation:
        """Undo the edit *action* of another executor, with the data in *observation*, its result."""


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
    executor = getattr(call.tool_call.tool, "executor", None)
    return isinstance(executor, Undoing) and executor.undoes(call.action)


def take_back_last(events: Sequence[Event], asker: Asker | None) -> Undone:
    """Undo all edits of the last step that made edits.

    Args:
        events: All events of the conversation.
        asker: Asks the user before an edit of another executor is undone, because the data of
            this edit may come from an unknown file. A preset answer (see `answering`) is used
            instead; without any asker, the cell asks.
    """
    lines, failures, calls = [], [], []
    for edit in reversed(last_edits(events)):
        observation, name = take_back(edit, asker or ask_in_cell), edit.call.tool_name
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


def take_back(edit: Edit, asker: Asker) -> Observation:
    """Let the tool that made *edit* undo it; *asker* is used as in `take_back_last`."""
    executor: Any = getattr(edit.call.tool_call.tool, "executor", None)
    action = edit.call.action
    try:
        if isinstance(executor, UndoingRecorded) and not executor.remembers(action):
            question = _question(edit)
            if not answer_here(question, asker):
                return Observation.from_text(_DECLINED, is_error=True)
            return executor.undo_recorded(action, edit.answer.observation)
        observation: Observation = executor.undo(action)
    except Exception as error:  # noqa: BLE001 - a tool's own code; other edits are undone
        return Observation.from_text(sentence(error), is_error=True)
    return observation


def _question(edit: Edit) -> Question:
    path = one_line(str(getattr(edit.call.action, "path", "something")))
    message = (
        f"{edit.call.tool_name} changed {path} in an earlier conversation, from which this one was "
        "loaded or forked. Restore the version that is saved there?"
    )
    consent = ConsentLabels("Put it back", "Leave it as it is", is_dangerous=True)
    return Question(message, YES_OR_NO, edit.call.tool_name, bare=True, consent=consent)
