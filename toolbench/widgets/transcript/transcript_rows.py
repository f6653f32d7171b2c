"""The rows of a transcript, one for each event, with buttons to open a call and to fork a step."""

from collections.abc import Callable, Container, Sequence
from threading import RLock
from typing import Any

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    Event,
    begins_answer,
)
from toolbench.agent.masking import Masking
from toolbench.agent.transcript import (
    call_html,
    call_numbers,
    masked,
    other_html,
    thought_html,
)
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.transcript.opened_call import CallButton, OpenedCall
from toolbench.wording import counted

Fork = Callable[[int, int], object]
"""A function that begins a fork. It gets the number of an event and the number of its step."""

# Rows; `to_html()` has all of them
_MOST = 200


class Rows:
    """The rows of a transcript. A row is sent again only when its call is edited or answered."""

    def __init__(
        self, conversation: Conversation, parts: Parts, variables: Variables, fork: Fork
    ) -> None:
        """Show the events of *conversation*, with widgets from *parts*.

        A person can keep results in *variables*. Each step has a button that calls *fork*.
        """
        self._conversation, self._parts, self._fork = conversation, parts, fork
        self._variables = variables
        self.widget = parts.column(kind="toolbench-events")
        self._note = parts.html()
        self._event_ids: list[int] = []
        self._lock = RLock()
        self._rows: dict[int, _Row] = {}

    def show(
        self,
        events: Sequence[Event],
        waiting: Container[int],
        asking: Container[int],
    ) -> None:
        """Show *events*. If there are very many, show only the newest.

        Args:
            events: All events of the conversation.
            waiting: The numbers of the waiting calls, which are shown in another place.
            asking: The numbers of the running calls whose tools ask the person.
        """
        masking = Masking(self._conversation.known_secrets)
        answers = {e.action_id: e for e in events if isinstance(e, AnswerEvent)}
        edits = {e.action_id: e for e in events if isinstance(e, CallEdit)}
        known = {e.id for e in events if isinstance(e, ActionEvent)}
        own = [
            e for e in events if getattr(e, "action_id", None) not in known and e.id not in waiting
        ]
        recent = own[-_MOST:]
        steps, numbers = _steps(events), call_numbers(events)
        for event in recent:
            row = self._rows.setdefault(event.id, _Row(self._parts, self._arrange))
            state = answers.get(event.id), edits.get(event.id), event.id in asking
            if not row.is_new and row.state == state:
                continue
            row.is_new, row.state = False, state
            if isinstance(event, ActionEvent):
                self._show_call(row, event, masking, numbers[event.id])
            else:
                put(row.html, other_html(masked(event, masking)))
            is_over = not isinstance(event, ActionEvent) or state[0] is not None
            if event.id in steps and is_over:
                row.offer_fork(steps[event.id], event.id, self._fork)
        self._keep(recent, len(own) - len(recent))

    def _show_call(self, row: "_Row", event: ActionEvent, masking: Masking, number: int) -> None:
        answer, edit, is_asking = row.state
        parts: list[Any] = [
            None if part is None else masked(part, masking) for part in (event, answer, edit)
        ]
        html = call_html(*parts, number=number, is_running=True, is_asking=is_asking)
        put(row.html, html)
        row.html.add_class("toolbench-call")
        row.tell(thought_html(parts[0]))
        if answer is not None:
            call = event.tool_call if edit is None else edit.tool_call
            # Not None: only a row with a known tool can be opened
            tool: Any = call.tool
            arguments, result = call.arguments, answer.answer
            row.offer(call, lambda: OpenedCall(tool, arguments, result, self._variables))

    def _keep(self, recent: Sequence[Event], left_out: int) -> None:
        """Show the rows of *recent*, and close all other rows.

        A note says that *left_out* earlier events are not shown.
        """
        with self._lock:
            self._event_ids = [event.id for event in recent]
            old_ids = self._rows.keys() - set(self._event_ids)
            old = [self._rows.pop(id_) for id_ in old_ids]
        note = f"{counted(left_out, 'event')} before these are not shown."
        put(self._note, notice(note, "neutral") if left_out else Html(""))
        self._arrange()
        for row in old:
            row.close()

    def _arrange(self) -> None:
        with self._lock:
            rows = (part for id_ in self._event_ids for part in self._rows[id_].widgets)
            self.widget.children = [self._note, *rows]

    def close(self) -> None:
        """Close the panels that were opened."""
        for row in self._rows.values():
            row.close()


def _steps(events: Sequence[Event]) -> dict[int, int]:
    """Return the number of the step of each event that a model made. The keys are event numbers."""
    steps, step = {}, 0
    for event in events:
        begins = begins_answer(event)
        step += begins
        if begins or isinstance(event, ActionEvent):
            steps[event.id] = step
    return steps


class _Row:
    """The row of one event: its HTML, and buttons to open the call and to fork the step."""

    def __init__(self, parts: Parts, arrange: Callable[[], object]) -> None:
        self._parts, self._arrange = parts, arrange
        self.is_new = True
        self.state: tuple[Any, Any, bool] = (None, None, False)
        """The answer to the call, its edit, and whether its tool asks the person."""
        self.html = parts.html()
        self._thought: Any = None
        self._call: CallButton | None = None
        self._fork: Any = None

    @property
    def _own(self) -> list[Any]:
        button = None if self._call is None else self._call.button
        parts = (self._thought, self.html, button, self._fork)
        return [part for part in parts if part is not None]

    @property
    def widgets(self) -> list[Any]:
        """The widgets of the row."""
        opened = None if self._call is None else self._call.opened
        return self._own if opened is None else [*self._own, opened.widget]

    def tell(self, thought: Html) -> None:
        """Show *thought*, the model's words before its call, above the row, if it is not empty."""
        if self._thought is None and thought:
            self._thought = self._parts.html(thought)

    def offer(self, call: ToolCall, opened: Callable[[], OpenedCall]) -> None:
        """Add a button that opens the panel of the finished *call*, if the tool of *call* exists.

        *opened* makes the panel.
        """
        if self._call is None and call.tool is not None:
            self._call = CallButton(
                self._button, ("Open", "Close"), call.name, opened, self._arrange
            )

    def offer_fork(self, step: int, event: int, fork: Fork) -> None:
        """Add a button that begins another conversation from the event with the number *event*.

        *step* is the number of the step that the event belongs to.
        """
        if self._fork is None:
            tip = (
                f"Begin another conversation from step {step}. "
                "The calls of this step wait for your decision again."
            )
            self._fork = self._button("Fork", tip)
            self._fork.on_click(lambda _: fork(event, step))

    def _button(self, label: str, tip: str) -> Any:
        self.html.add_class("toolbench-event")
        return self._parts.button(label, tip=tip)

    def close(self) -> None:
        """Close all widgets of the row."""
        if self._call is not None:
            self._call.close()
        self._parts.drop(self._own)
