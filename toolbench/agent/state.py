"""The state of a conversation: its events, and everything that is derived from them.

The log contains all events and only grows. For each event, `AgentState.apply` updates the rest: the
messages for the model, the pending calls, and whether the work has ended. It is called for new
events and for events from a file or a fork. After an interrupt, it is called again for events that
were not fully applied.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from threading import Event as Flag
from threading import Lock, RLock
from typing import Any, TypeVar

from toolbench.agent.context import Context
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
    StopReason,
    begins_answer,
    secrets_in,
)
from toolbench.core.builtins import FinishAction
from toolbench.core.content import Content, TextContent
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.llm.compose import result_part, user_parts
from toolbench.llm.message import Message, Part, TextPart
from toolbench.llm.models import Usage
from toolbench.llm.wire import WIRES
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import Redactor
from toolbench.values import sentence

E = TypeVar("E", bound=Event)
Row = tuple[int, int | None, int | None, float | None]

# The same calls in a row that stop the work
_LIMIT = 3


# --- the events -----------------------------------------------------------------------


class EventLog(Sequence[Event]):
    """The events of a conversation, oldest first; any thread may use it and listen for events."""

    def __init__(self, listeners: Iterable[Callable[[Event], object]], redactor: Redactor) -> None:
        """Make an empty log.

        Args:
            listeners: Called with each event, in the thread that adds the event. If a listener
                fails, a notice is added as an event, and the work continues.
            redactor: Masks the secrets of the conversation. Secrets of calls are added to it.
        """
        self.redactor = redactor
        """Masks the secrets of the conversation, and of all calls and results so far."""
        remembered.add(redactor.secrets)
        self._events: list[Event] = []
        self._listeners = list(listeners)
        self._lock = RLock()

    def listen(self, listener: Callable[[Event], object]) -> Callable[[], None]:
        """Call *listener* with each new event; return a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def append(self, events: Iterable[E]) -> list[E]:
        """Append *events*, and return them; if an interrupt comes, all or none are appended.

        An event without a number gets the next number.
        """
        with self._lock:
            appended, number = list[E](), self.last_id
            for event in events:
                number = event.id or number + 1
                if secrets := secrets_in([event]):
                    self.redactor = self.redactor.including(secrets)
                appended.append(replace(event, id=number)._hiding(self.redactor))
            self._events.extend(appended)
        return appended

    def notify(self, events: Iterable[Event]) -> None:
        """Call the listeners with *events*, which are already in the log."""
        for event in events:
            for listener in tuple(self._listeners):
                try:
                    listener(event)
                except Exception as error:  # noqa: BLE001 - a user's code; no call may lose its answer for it
                    text = f"A callback failed: {sentence(error)}"
                    text = self.redactor.joined(remembered.redactor).sentence(text)
                    self.append([NoticeEvent(text)])

    @property
    def last_id(self) -> int:
        """The number of the last event; 0 if there is none."""
        with self._lock:
            if not self._events:
                return 0
            return self._events[-1].id

    def after(self, place: int) -> list[Event]:
        """Return the events after the first *place* events."""
        with self._lock:
            return self._events[place:]

    def __getitem__(self, index: Any) -> Any:
        with self._lock:
            return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        return f"<EventLog of {len(self)}>"


# --- the calls of one answer ------------------------------------------------------------


class Round:
    """The calls that the model made in one message, and the answers to these calls."""

    def __init__(self, message: Message, first: ActionEvent) -> None:
        """Make a round of the calls of *message*; *first* is the first of these calls."""
        self.message = message
        self.calls = [first]
        self.answers: dict[int, AnswerEvent] = {}
        """The answers, by the number of the call's event."""
        self.edited: set[int] = set()
        """The numbers of the calls whose arguments the user changed."""

    @property
    def waiting(self) -> list[ActionEvent]:
        """The calls without an answer."""
        return [call for call in self.calls if call.id not in self.answers]

    def apply(self, event: Event) -> None:
        """Add *event* to the round: a call, a user's change of a call, or an answer to a call.

        If a call gets a second answer, the second answer is ignored.
        """
        ids = [call.id for call in self.calls]
        match event:
            case ActionEvent() if event.id not in ids:
                self.calls.append(event)
            case CallEdit() if event.action_id in ids:
                call, place = event.tool_call, ids.index(event.action_id)
                changed = replace(self.calls[place], tool_call=call, action=call.action)
                self.calls[place] = changed
                self.edited.add(event.action_id)
            case AnswerEvent() if event.action_id is not None and event.action_id in ids:
                self.answers.setdefault(event.action_id, event)

    @property
    def is_finished(self) -> bool:
        """Whether one of the calls finished the task."""
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
        """Return the messages of the round: the model's message, then the answers to its calls.

        If the model wrote its calls as text, their answers are text in a message of the user.
        """
        results: list[Part] = []
        sent = self.message.calls
        for place, call in enumerate(self.calls):
            observation = self.answers[call.id].answer
            result = result_part(call.tool_call, _readable(observation))
            # The call got an id for another provider, and is again one's that needs none
            if place < len(sent) and sent[place].id is None:
                result = replace(result, id=None)
            results.append(result)
        wire = WIRES[self.calls[0].tool_call.metadata.provider]
        answer = Message("tool", tuple(results))
        return list(wire.with_written_results([self.message, answer]))


def _readable(observation: Observation) -> Observation:
    """Return *observation* with content for the model, even if its `to_llm_content` fails."""
    if type(observation).to_llm_content is Observation.to_llm_content:
        return observation
    return _Read(content=list(read_by_model(observation)), is_error=observation.is_error)


class _Read(Observation):
    """An observation whose content is sent to the model unchanged."""

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content without an error header: the content already says that the call failed."""
        return self.content


class Repeats:
    """Counts how often the same call was made in a row."""

    def __init__(self) -> None:
        """Make a counter that starts at zero."""
        self._last = ""
        self._times = 0
        self._counted: set[int] = set()
        self.is_stuck = False
        """Whether a call was made three times in a row."""

    def clear(self) -> None:
        """Start again at zero, because the user lets the model continue."""
        self._last, self._times, self.is_stuck = "", 0, False

    def is_third(self, event: ActionEvent) -> bool:
        """Count a call, and return whether the model made it at least three times in a row.

        A call is counted only once, even if this method gets its event again.
        """
        if event.id in self._counted:
            return False
        self._counted.add(event.id)
        call = event.tool_call
        parts: list[Any] = [call.name, call.arguments]
        # Arguments that could not be read are empty
        if call.error is not None:
            parts.append(str(call.error))
        key = json.dumps(parts, sort_keys=True, default=str)
        if key != self._last:
            self._last, self._times = key, 0
        self._times += 1
        if self._times < _LIMIT:
            return False
        self.is_stuck = True
        return True


# --- what it costs ------------------------------------------------------------------------


class Spending:
    """The tokens and cost of each answer of a model, and their sum.

    Each entry also has the number of the last event before the answer. If a conversation is forked,
    this number shows which answers were copied.
    """

    def __init__(self) -> None:
        """Make a record without answers, whose sum is zero."""
        self._entries: list[tuple[int, Usage]] = []
        self._lock = Lock()
        self.total = Usage()
        """The sum over all answers for which the model reported tokens or cost."""

    def add(self, usage: Usage, after: int) -> None:
        """Add *usage*, which was spent after the event number *after*."""
        with self._lock:
            self._entries.append((after, usage))
            self.total += usage

    def before(self, event: int) -> "Spending":
        """Return the spending before the event with the number *event*."""
        past = Spending()
        for after, usage in tuple(self._entries):
            if after < event:
                past.add(usage, after)
        return past

    def rows(self) -> list[Row]:
        """Return a row for each answer: the event number before it, tokens in and out, dollars."""
        entries = tuple(self._entries)
        return [(n, u.input_tokens, u.output_tokens, u.cost) for n, u in entries]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Spending":
        """Restore the spending from *rows*, which the method `rows` returned earlier.

        Raises:
            TypeError: If an item in *rows* is not a row.
            ValueError: If a row does not have four parts.
        """
        spending = cls()
        for after, read, written, cost in rows:
            spending.add(Usage(read, written, cost).checked(), int(after))
        return spending


# --- the whole ------------------------------------------------------------------------------


class AgentState:
    """The events of a conversation, and everything that is derived from them."""

    def __init__(self, log: EventLog, context: Context) -> None:
        """Start with an empty *log*, and a *context* without turns."""
        self.log = log
        self.context = context
        """The messages for the model."""
        self.inbox: deque[MessageEvent] = deque()
        """The messages of the user that were not sent to the model yet."""
        self.round: Round | None = None
        """The calls of the model's last answer; None as soon as all of them are answered."""
        self.over: StopReason | None = None
        """Why the work stopped; None if it can continue."""
        self.detail = ""
        """Details of the reason, for the stop event."""
        self.stopping = Flag()
        """Set when the user requests a stop."""
        self.wants_condensing = False
        """Whether to summarise the older turns before the next request."""
        self.repeats = Repeats()
        self.spending = Spending()
        self._call_ids: dict[str, int] = {}
        """How many calls used each call id that a model sent."""

    @property
    def steps(self) -> int:
        """The number of answers of the model."""
        return sum(map(begins_answer, self.log.after(0)))

    @property
    def unread(self) -> list[int]:
        """The numbers of the messages that were not sent to the model yet."""
        # A copy: another thread may add to it
        return [event.id for event in tuple(self.inbox)]

    def end(self, reason: StopReason | None, detail: str = "") -> None:
        """Stop for *reason* until the user's next message; with None, the work can continue."""
        self.over, self.detail = reason, detail

    # --- events ----------------------------------------------------------------------

    def add(self, *events: Event) -> None:
        """Append *events*, apply each event, and then call the listeners."""
        self.log.notify(self.append(*events))

    def append(self, *events: E, message: Message | None = None) -> list[E]:
        """Append *events* to the log, and update the state for each event.

        Either all events are appended, or none. This method does not call the listeners: the caller
        must pass the returned events to `log.notify`.

        Args:
            *events: The events.
            message: The message of the model that contains the events, if there is one.

        Returns:
            The events with their numbers.
        """
        # A listener may raise KeyboardInterrupt, so none is called before the state is complete
        appended = self.log.append(events)
        for event in appended:
            self.apply(event, message)
        return appended

    def receive(self, event: MessageEvent) -> list[MessageEvent]:
        """Append the user's message *event* to log and inbox; if interrupted, to both or neither.

        As after `append`, the caller must then call `log.notify`.
        """
        place = len(self.log)
        try:
            return self.append(event)
        except BaseException:
            # The interrupt may have come after the log got it
            taken = {*self.unread, *self._known_ids()}
            for logged in self.log.after(place):
                is_same = isinstance(logged, MessageEvent) and logged.content is event.content
                if is_same and logged.id not in taken:
                    self.apply(logged)
            raise

    def apply(self, event: Event, message: Message | None = None) -> None:
        """Update the state for *event*, which is already in the log.

        A message must not be applied again, because it would be added twice. All other events may
        be applied again.

        Args:
            event: The event.
            message: The model's message that contains the event. By default, the message that is
                stored in the event is used.
        """
        match event:
            case ActionEvent():
                self._apply_call(event, message)
            case CallEdit() | AnswerEvent():
                if self.round is not None:
                    self.round.apply(event)
                    self._close_round()
            case MessageEvent(source="agent"):
                self.context.add([message or self._said_in(event)], [event.id])
                self.end("answered")
            case MessageEvent(source="user"):
                self.inbox.append(event)
            case MessageEvent() if self.round is not None:
                # Between a call and its answer, no provider takes a message
                self.inbox.append(event)
            case MessageEvent():
                self.context.add([message_of(event)], [event.id])
            case Condensation() if event.forgotten:
                self.context.condense(frozenset(event.forgotten), event.summary)
            case NoticeEvent() if event.left_out:
                self.context.leave_out_images(event.left_out)

    def _apply_call(self, event: ActionEvent, message: Message | None) -> None:
        if self.round is None:
            self.round = Round(message or self._said_in(event), event)
        self.round.apply(event)
        self._call_ids.setdefault(event.tool_call_id, 1)

    def _close_round(self) -> None:
        """If all calls are answered, add the calls and answers to the model's messages."""
        current = self.round
        if current is None or current.waiting:
            return
        # First the end: after an interrupt, calls that are in the context are not closed again
        if self.repeats.is_stuck:
            self.end("repeated")
        elif current.is_finished:
            self.end("finished")
        self.context.add(current.messages(), current.event_ids)
        self.round = None

    def _said_in(self, event: ActionEvent | MessageEvent) -> Message:
        """Return the model's message that is stored in *event*."""
        return WIRES[self.context.provider].read(event.message or {})

    def read(self, event: MessageEvent) -> None:
        """Add *event* to the next request, or end the work if the message is `/exit`."""
        if event.is_exit:
            self.end("finished", event.text.strip())
        else:
            self.end(None)
            self.context.add([message_of(event)], [event.id])

    def new_call_id(self, sent: str | None) -> str:
        """Return a unique id for a call: *sent*, unless another call already has this id."""
        new = id_ = sent or "call"
        number = self._call_ids.get(id_, 1)
        while new in self._call_ids:
            number += 1
            new = f"{id_}-{number}"
        self._call_ids[id_] = number
        self._call_ids.setdefault(new, 1)
        return new

    # --- after an interrupt ------------------------------------------------------------

    def repair(self) -> None:
        """Apply the events since the model's last answer that an interrupt left unapplied."""
        known = self._known_ids()
        if self.round is not None and self.round.calls[0].id in known:
            self.round = None
        for event in self._since_last_answer():
            # One that was read and was no message for the model is in no turn
            is_users = isinstance(event, MessageEvent) and event.source == "user"
            if not is_users and event.id not in known and event.id not in self.unread:
                self.apply(event)
        while self.inbox and self.inbox[0].id in known:
            self.inbox.popleft()
        if not (self.over or self.round or self.inbox) and self.context.is_answered:
            self.end("answered")

    def _known_ids(self) -> set[int]:
        """Return the numbers of the events in the messages for the model, or in their summaries."""
        known = set(self.context.event_ids)
        for event in self.log.after(0):
            if isinstance(event, Condensation):
                known.update(event.forgotten)
        return known

    def _since_last_answer(self) -> list[Event]:
        """Return the first event of the model's last answer, and all later events."""
        events = self.log.after(0)
        for place in reversed(range(len(events))):
            if begins_answer(events[place]):
                return events[place:]
        return events


def message_of(event: MessageEvent) -> Message:
    """Return *event*, which the model did not write, as a message for the model."""
    if all(isinstance(block, TextContent) for block in event.content):
        return Message("user", (TextPart(event.text),))
    return Message("user", tuple(user_parts(event.content)))
