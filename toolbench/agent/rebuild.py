"""Rebuild the state of a conversation from the events of a file, or of another conversation."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolbench.agent.agent_state import AgentState
from toolbench.agent.call_round import (
    NOT_ANSWERED,
    Round,
    refusal_of,
    understood,
    without_lost_secret,
)
from toolbench.agent.context import assistant_message
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
)
from toolbench.agent.tools.tool_search import SearchToolsObservation
from toolbench.agent.toolset import Toolset
from toolbench.core.content import TextContent
from toolbench.errors import ToolbenchError
from toolbench.llm.calls import (
    ToolCall,
)
from toolbench.llm.calls.unread_calls import without_unread
from toolbench.llm.message import Message
from toolbench.llm.read import read_message
from toolbench.llm.wire import WIRES


class Rebuild:
    """Copies events into the state of an agent, one by one, and makes the messages for the model again.

    The calls are parsed again with the present tools, so that waiting calls can run.
    """

    def __init__(
        self,
        agent_state: AgentState,
        toolset: Toolset,
        *,
        is_same: bool,
        unread: Iterable[int] = (),
        is_saved: bool = False,
    ) -> None:
        """Prepare to copy events into *agent_state*; the caller calls `take` for each event, then `end`.

        Args:
            agent_state: A state without events.
            toolset: The present tools.
            is_same: Whether the model of the events has the same message format as the model that
                goes on.
            unread: The numbers of the messages that the model has not read.
            is_saved: Whether the events come from a file, which has marks in place of secrets.
        """
        self._agent_state, self._toolset = agent_state, toolset
        self._is_same, self._is_saved = is_same, is_saved
        self._unread = frozenset(unread)
        self._waiting_events: list[MessageEvent] = []
        self._calls: list[ActionEvent] = []
        self._edits: list[CallEdit] = []
        self._answers: list[AnswerEvent] = []
        self._answered: set[int] = set()
        self._missing: list[AnswerEvent] = []
        """Answers to calls of earlier rounds. The real answers were lost by an interrupt."""

    def take(self, event: Event) -> None:
        """Add a copy of *event* with the same number to the new log; skip a second answer to a call."""
        if not self._is_second(event):
            self._take(event)

    def _is_second(self, event: Event) -> bool:
        answered = event.action_id if isinstance(event, AnswerEvent) else None
        if answered is None:
            return False
        is_second = answered in self._answered
        self._answered.add(answered)
        return is_second

    def _take(self, event: Event) -> None:
        event = self._agent_state.log.restore(self._with_id(self._read_again(event)), event.id)
        match event:
            case ActionEvent():
                if event.metadata is None or event.metadata.index == 0:
                    self._close_earlier()
                self._calls.append(event)
            case CallEdit():
                self._edits.append(event)
            case AnswerEvent() if event.action_id is not None:
                self._answers.append(event)
            case MessageEvent() if event.id in self._unread or event.source != "agent":
                self._waiting_events.append(event)
            case MessageEvent():
                self._close_earlier()
                self._agent_state.add_answer(event, self._message_of(event, event.text, []))
            case NoticeEvent() if event.left_out:
                self.close()
                self._agent_state.context.leave_out_images(event.left_out)
            case Condensation() if event.forgotten:
                self.close()
                self._agent_state.context.condense(frozenset(event.forgotten), event.summary)

    def _with_id(self, event: Event) -> Event:
        """Return *event*; if it is a call without an id, as of Gemini, with the id that other providers need."""
        if self._is_same or self._agent_state.context.provider == "gemini":
            return event
        if not isinstance(event, ActionEvent) or event.tool_call.id is not None:
            return event
        id_ = self._agent_state.new_call_id(event.tool_call_id)
        return replace(event, tool_call=replace(event.tool_call, id=id_))

    def end(self) -> None:
        """Add the last round of calls, whose calls without an answer wait, and complete the log."""
        self.close()
        self._agent_state.log.append_all(
            answer
            for answer in self._missing
            # By a later event
            if answer.action_id not in self._answered
        )

    def _close_earlier(self) -> None:
        """Answer the waiting calls of the earlier round as interrupted, and add that round to the state."""
        for call in self._calls:
            if call.id not in self._answered:
                answer = refusal_of(call, NOT_ANSWERED)
                self._missing.append(replace(answer, rejection_source="interrupt"))
                self._answers.append(self._missing[-1])
        self.close()

    def close(self) -> None:
        """Add the calls of the current round to the state, with the answers and the messages between."""
        calls, self._calls = self._calls, []
        if calls:
            called = [call.tool_call for call in calls]
            message = self._message_of(calls[0], calls[0].thought, called)
            current = Round(message, calls)
            for edit in self._edits:
                current.edit(edit)
            for answer in self._answers:
                current.answer(answer)
                if isinstance(answer.answer, SearchToolsObservation):
                    self._toolset.reveal(answer.answer.names)
            if self._is_saved:
                _refuse_lost_secrets(current)
            self._agent_state.take_over_round(current)
        events, self._waiting_events, self._answers, self._edits = (
            self._waiting_events,
            [],
            [],
            [],
        )
        for event in events:
            if event.id in self._unread:
                self._agent_state.inbox.append(event)
            else:
                self._agent_state.read(event)

    def _message_of(
        self, event: MessageEvent | ActionEvent, text: str, calls: list[ToolCall]
    ) -> Message:
        provider = self._agent_state.context.provider
        if self._is_same and event.message is not None:
            return WIRES[provider].read(event.message)
        images: list[str] = []
        if event.message is not None:
            images = read_message(dict(event.message)).message.images
        return assistant_message(text, calls, provider, images)

    def _read_again(self, event: Event) -> Event:
        if self._is_saved and isinstance(event, ActionEvent | MessageEvent) and event.message:
            event = self._without_unread(event)
        if not isinstance(event, ActionEvent | CallEdit):
            return event
        call = event.tool_call
        if call.error is None:
            call = understood(call, self._toolset.tools, self._agent_state.context.provider)
        if isinstance(event, ActionEvent):
            return replace(event, tool_call=call, action=call.action)
        return replace(event, tool_call=call)

    def _without_unread(self, event: ActionEvent | MessageEvent) -> ActionEvent | MessageEvent:
        """Return *event* without calls that may hold a secret: earlier versions saved them."""
        read = read_message(dict(event.message or {})).message
        kept = without_unread(
            read,
            self._toolset.tools.values(),
            are_written_calls_read=isinstance(event, ActionEvent),
        )
        if kept is read:
            return event
        [message] = WIRES[kept.provider or "openai"].write(kept)
        if isinstance(event, ActionEvent):
            return replace(event, message=message, thought=event.thought and kept.thought)
        images = [block for block in event.content if block.type != "text"]
        return replace(event, message=message, content=(TextContent(text=kept.thought), *images))


def _refuse_lost_secrets(current: Round) -> None:
    """Let no waiting call of *current* run with the mark of a secret among its arguments."""
    for place, event in enumerate(current.calls):
        if event.id not in current.answers:
            call = without_lost_secret(event.tool_call)
            current.calls[place] = replace(event, tool_call=call, action=call.action)


# --- forks --------------------------------------------------------------------------


def fork(
    agent_state: AgentState, toolset: Toolset, other: AgentState, last: Event | int | None
) -> None:
    """Copy the events of *other* into *agent_state*, up to the event *last*; all events if it is None.

    An answer of the model is copied with all its calls. Calls without an answer among the copied
    events wait for a decision, as in `Conversation.pending`.

    Raises:
        ToolbenchError: If *other* has no such event.
    """
    events = other.log.after(0)
    copied = events[: _end_of(events, last)]
    unread = set(other.unread)
    if copied and isinstance(copied[-1], MessageEvent) and copied[-1].source == "user":
        # The model of the fork has not read it
        unread.add(copied[-1].id)
    is_same = other.context.provider == agent_state.context.provider
    rebuild = Rebuild(agent_state, toolset, is_same=is_same, unread=unread)
    for event in copied:
        rebuild.take(event)
    rebuild.end()
    agent_state.spending = other.spending.before(agent_state.log.last_id)


def _end_of(events: Sequence[Event], last: Event | int | None) -> int:
    """Return the number of *events* to copy; *last* is the last event to copy, or the event's number."""
    if last is None:
        return len(events)
    number = last.id if isinstance(last, Event) else last
    place = next((n for n, event in enumerate(events) if event.id == number), None)
    if place is None:
        msg = f"There is no event {number!r} in this conversation of {len(events)} events."
        raise ToolbenchError(msg)
    end = place + 1
    if isinstance(events[place], ActionEvent):
        while end < len(events) and _is_of_one_answer(events[end]):
            end += 1
    return end


def _is_of_one_answer(event: Event) -> bool:
    return isinstance(event, ActionEvent) and bool(event.metadata and event.metadata.index)
