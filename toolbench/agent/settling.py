"""Repair a conversation after an interrupt at any line of code: each call gets one answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolbench.agent.call_round import Round
from toolbench.agent.dialogue import Dialogue
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


def settle(dialogue: Dialogue, calls: "Calls") -> None:
    """Make the state of *dialogue* agree with its log; *calls* answers the interrupted calls."""
    dialogue.context.mend()
    known = {id_ for turn in dialogue.context.turns for id_ in turn.event_ids}
    for event in dialogue.log:
        if isinstance(event, Condensation):
            known.update(event.forgotten)
    match _last_answer(dialogue.log.after(0)):
        case [MessageEvent(message=message) as reply] if message is not None:
            if reply.id not in known:
                dialogue.add_answer(reply, dict(message))
        case [ActionEvent() as first, *_] if first.id in known:
            dialogue.round = None
        case [ActionEvent(), *_] as events:
            last = [event for event in events if isinstance(event, ActionEvent)]
            _settle_round(dialogue, calls, last)
    dialogue.forget(known)


def note_interrupt(dialogue: Dialogue, calls: "Calls", place: int) -> None:
    """Repair *dialogue* after an interrupt, and log that the work stopped.

    The first *place* events are older than the interrupted work. If a later event is a stop
    already, no stop is logged.
    """
    settle(dialogue, calls)
    if not any(isinstance(event, StopEvent) for event in dialogue.log.after(place)):
        dialogue.log.add(StopEvent("paused", "interrupted"))


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


def _settle_round(dialogue: Dialogue, calls: "Calls", last: list[ActionEvent]) -> None:
    current = dialogue.round
    # The interrupt came before the dialogue had the round
    if current is None:
        current = dialogue.round = Round(dict(last[0].message or {}), last)
        calls.take_in_hand(current)
    for event in dialogue.log:
        if isinstance(event, CallEdit) and event.id > last[0].id:
            current.edit(event)
        elif isinstance(event, AnswerEvent):
            current.answer(event)
    calls.break_off(current)
    dialogue.close_round()
