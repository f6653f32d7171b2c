"""The rows of a transcript, one for each event, with buttons to open calls and fork steps."""

from collections.abc import Callable, Container, Sequence
from threading import RLock
from typing import Any

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    Event,
)
from toolbench.agent.masking import Masking
from toolbench.agent.steps import Steps
from toolbench.agent.transcript import (
    call_html,
    call_numbers,
    masked,
    other_html,
    thought_html,
)
from toolbench.core.schema import Observation
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.tool_calls import CallButton, OpenedCall
from toolbench.wording import counted

Fork = Callable[[int, int], object]
"""A function that starts a fork. It is called with the numbers of an event and of its step."""

# The most rows that are shown; `to_html()` has all of them
_MOST = 200


class Rows:
    """The rows of a transcript. A row is sent again only if its call is edited or answered."""

    def __init__(
        self, conversation: Conversation, parts: Parts, variables: Variables, fork: Fork
    ) -> None:
        """Make the rows for *conversation*, with widgets from *parts*.

        The user can store results in *variables*. Each step has a button that calls *fork*.
        """
        self._conversation, self._parts, self._fork = conversation, parts, fork
        self._variables = variables
        self.widget = parts.column(kind="toolbench-events")
        self._note = parts.html()
        # The rows of the newest events only, in order
        self._rows: dict[int, _Row] = {}
        self._lock = RLock()

    def show(
        self,
        events: Sequence[Event],
        steps: Steps,
        waiting: Container[int],
        asking: Container[int],
    ) -> None:
        """Show *events*. If there are very many, show only the newest events.

        Args:
            events: All events of the conversation.
            steps: The steps of the conversation, with the time and the tokens that each took.
            waiting: The numbers of the calls that wait for the user. These calls get no row,
                because they are shown elsewhere.
            asking: The numbers of the running calls whose tools are asking the user something.
        """
        masking = Masking(self._conversation.known_secrets)
        answers = {e.action_id: e for e in events if isinstance(e, AnswerEvent)}
        edits = {e.action_id: e for e in events if isinstance(e, CallEdit)}
        numbers = call_numbers(events)
        own = []
        for event in events:
            if getattr(event, "action_id", None) not in numbers and event.id not in waiting:
                own.append(event)
        recent = own[-_MOST:]
        rows = {}
        for event in recent:
            row = self._rows.get(event.id) or _Row(self._parts, self._arrange)
            rows[event.id] = row
            # A longer step shortens the bars of all steps
            row.show_step(steps.html_before(event))
            state = answers.get(event.id), edits.get(event.id), event.id in asking
            if row.state == state:
                continue
            row.state = state
            if isinstance(event, ActionEvent):
                self._show_call(row, event, masking, numbers[event.id])
            else:
                put(row.html, other_html(masked(event, masking)))
            is_over = not isinstance(event, ActionEvent) or event.id in answers
            if event.id in steps.numbers and is_over:
                row.add_fork_button(steps.numbers[event.id], event.id, self._fork)
        self._keep(rows, len(own) - len(recent))

    def _show_call(self, row: "_Row", event: ActionEvent, masking: Masking, number: int) -> None:
        answer, edit, is_asking = row.state

        def shown(part: Any) -> Any:
            if part is None:
                return None
            return masked(part, masking)

        masked_event = shown(event)
        html = call_html(
            masked_event,
            shown(answer),
            shown(edit),
            number=number,
            is_running=True,
            is_asking=is_asking,
        )
        put(row.html, html)
        row.html.add_class("toolbench-call")
        row.show_thought(thought_html(masked_event))
        if answer is not None:
            call = event.tool_call
            if edit is not None:
                call = edit.tool_call
            row.add_call_button(call, answer.answer, self._variables)

    def _keep(self, rows: "dict[int, _Row]", left_out: int) -> None:
        """Show *rows*, and close all other rows.

        A note says how many earlier events (*left_out*) are not shown.
        """
        note = Html("")
        if left_out:
            note = notice(f"{counted(left_out, 'event')} before these are not shown.", "neutral")
        put(self._note, note)
        with self._lock:
            old, self._rows = self._rows, rows
        self._arrange()
        for id_, row in old.items():
            if id_ not in rows:
                row.close()

    def _arrange(self) -> None:
        with self._lock:
            widgets = [self._note]
            for row in self._rows.values():
                widgets += row.widgets
            self.widget.children = widgets

    @property
    def views(self) -> list[OpenedCall]:
        """The open panels of calls."""
        found = []
        for row in self._rows.values():
            found += row.views
        return found


class _Row:
    """The row of one event: its HTML, and buttons to open the call and to fork the step."""

    def __init__(self, parts: Parts, arrange: Callable[[], object]) -> None:
        self._parts, self._arrange = parts, arrange
        self.state: Any = None
        """The answer to the call, its edit, and whether its tool asks the user; None for a new row."""
        self.html = parts.html()
        self._step: list[Any] = []
        self._thought: list[Any] = []
        self._call: CallButton | None = None
        self._fork: list[Any] = []

    @property
    def _own(self) -> list[Any]:
        call = []
        if self._call is not None:
            call.append(self._call.button)
        return [*self._step, *self._thought, self.html, *call, *self._fork]

    @property
    def views(self) -> list[OpenedCall]:
        """The panel of the call, if it is open."""
        if self._call is None:
            return []
        return self._call.views

    @property
    def widgets(self) -> list[Any]:
        """The widgets of the row."""
        return [*self._own, *(view.widget for view in self.views)]

    def show_step(self, line: Html) -> None:
        """Show *line* above the row, unless it is empty.

        A step starts with this row. *line* says how long the step took, and how many tokens it
        used.
        """
        if line and not self._step:
            self._step.append(self._parts.html())
        for widget in self._step:
            put(widget, line)

    def show_thought(self, thought: Html) -> None:
        """Show *thought*, the model's words before its call, above the call, unless it is empty."""
        if thought and not self._thought:
            self._thought.append(self._parts.html(thought))

    def add_call_button(self, call: ToolCall, result: Observation, variables: Variables) -> None:
        """Add a button that opens the panel of the ended *call*, if its tool exists.

        The user can store its *result* in *variables*.
        """
        tool = call.tool
        if self._call is None and tool is not None:
            self.html.add_class("toolbench-event")
            self._call = CallButton(
                self._parts,
                ("Open", "Close"),
                call.name,
                lambda: OpenedCall(tool, call.arguments, result, variables),
                self._arrange,
            )

    def add_fork_button(self, step: int, event: int, fork: Fork) -> None:
        """Add a button that forks the conversation at the event with the number *event*.

        *step* is the number of the step that contains the event. A click calls `fork(event, step)`.
        """
        if self._fork:
            return
        tip = (
            f"Begin another conversation from step {step}. "
            "The calls of this step wait for your decision again."
        )
        self.html.add_class("toolbench-event")
        self._fork.append(self._parts.button("Fork", lambda: fork(event, step), tip=tip))

    def close(self) -> None:
        """Close all widgets of the row."""
        for view in self.views:
            view.close()
        self._parts.drop(self._own)
