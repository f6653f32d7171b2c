"""Repair a conversation after an interrupt at any line of code: each call gets one answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolbench.agent.agent_state import AgentState
from toolbench.agent.call_round import Round
from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    Condensation,
    Event,
    MessageEvent,
    StopEvent,
)
from toolbench.errors import ToolbenchError
from toolbench.llm.message import Message
from toolbench.llm.wire import WIRES

if TYPE_CHECKING:
    from toolbench.agent.calls import Calls


class Work:
    """A lock, so that only one thread at a time works on a conversation."""

    def __init__(self, settle: Callable[[], object]) -> None:
        """Make the lock; it calls *settle* after work that ended with an exception."""
        self._settle = settle
        self._worker: dict[str, object] = {}
        self._is_whole = True

    @property
    def is_busy(self) -> bool:
        """Whether a thread works on the conversation now."""
        return bool(self._worker)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let only this thread work on the conversation during the block.

        The cleanup is written twice, because an interrupt can also hit the cleanup itself.

        Raises:
            ToolbenchError: If another thread is at work.
        """
        me = object()
        try:
            try:
                # In one step
                if self._worker.setdefault("now", me) is not me:
                    msg = "This conversation is at work in another thread: wait, or interrupt() it."
                    raise ToolbenchError(msg)
                self._mend(me)
                self._is_whole = False
                yield
                self._is_whole = True
            finally:
                self._mend(me)
                self._leave(me)
        finally:
            try:
                self._mend(me)
            finally:
                self._leave(me)

    def _mend(self, me: object) -> None:
        if self._worker.get("now") is me and not self._is_whole:
            self._settle()
            self._is_whole = True

    def _leave(self, me: object) -> None:
        if self._worker.get("now") is me:
            self._worker.clear()


def settle(agent_state: AgentState, calls: "Calls") -> None:
    """Make the state of *agent_state* agree with its log; *calls* answers the interrupted calls."""
    agent_state.context.mend()
    known = {id_ for turn in agent_state.context.turns for id_ in turn.event_ids}
    for event in agent_state.log:
        if isinstance(event, Condensation):
            known.update(event.forgotten)
    match _last_answer(agent_state.log.after(0)):
        case [MessageEvent(message=message) as reply] if message is not None:
            if reply.id not in known:
                agent_state.add_answer(reply, _said_in(agent_state, reply))
        case [ActionEvent() as first, *_] if first.id in known:
            agent_state.round = None
        case [ActionEvent(), *_] as events:
            last = [event for event in events if isinstance(event, ActionEvent)]
            _settle_round(agent_state, calls, last)
    agent_state.forget(known)


def note_interrupt(agent_state: AgentState, calls: "Calls", place: int) -> None:
    """Repair *agent_state* after an interrupt, and log that the work stopped.

    The first *place* events are older than the interrupted work. If a later event is a stop
    already, no stop is logged.
    """
    settle(agent_state, calls)
    if not any(isinstance(event, StopEvent) for event in agent_state.log.after(place)):
        agent_state.log.add(StopEvent("paused", "interrupted"))


def _last_answer(events: list[Event]) -> list[Event]:
    """Return the events of the model's last answer: a message, or calls."""
    calls: list[Event] = []
    for event in reversed(events):
        if isinstance(event, MessageEvent) and event.source == "agent":
            return calls or [event]
        if isinstance(event, ActionEvent):
            calls.insert(0, event)
            if event.metadata is None or event.metadata.index == 0:
                return calls
    return calls


def _settle_round(agent_state: AgentState, calls: "Calls", last: list[ActionEvent]) -> None:
    current = agent_state.round
    # The interrupt came before the state had the round
    if current is None:
        current = agent_state.round = Round(_said_in(agent_state, last[0]), last)
        calls.take_in_hand(current)
    for event in agent_state.log:
        if isinstance(event, CallEdit) and event.id > last[0].id:
            current.edit(event)
        elif isinstance(event, AnswerEvent):
            current.answer(event)
    calls.break_off(current)
    agent_state.close_round()


def _said_in(agent_state: AgentState, event: ActionEvent | MessageEvent) -> Message:
    """Return the message of the model that *event* has."""
    return WIRES[agent_state.context.provider].read(event.message or {})
