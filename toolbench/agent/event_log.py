"""The log of a conversation's events, in order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from threading import RLock
from typing import TypeVar, overload

from toolbench.agent.events import Event, NoticeEvent, secrets_in
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.values import sentence

E = TypeVar("E", bound=Event)


class EventLog(Sequence[Event]):
    """The events of a conversation, oldest first. Any thread may read; listeners get each new event."""

    def __init__(
        self,
        listeners: Sequence[Callable[[Event], object]] = (),
        redactor: Redactor = NO_SECRETS,
    ) -> None:
        """Make an empty log.

        Args:
            listeners: Called with each event, in the thread that adds it. If a listener
                fails, a notice is added as an event, and the work goes on.
            redactor: Hides the secrets of the conversation in its events, as do those of its calls.
        """
        self._redactor = redactor
        remembered.add(redactor.secrets)
        self._events: list[Event] = []
        self._listeners = list(listeners)
        self._lock = RLock()

    def listen(self, listener: Callable[[Event], object]) -> Callable[[], None]:
        """Call *listener* with each new event; return a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def add(self, event: E) -> E:
        """Append *event* with the next number, call the listeners, and return the event."""
        added = self.append(event)
        self.tell(added)
        return added

    def append(self, event: E) -> E:
        """Append *event* with the next number, without calling the listeners yet.

        The caller first updates everything that depends on the event, and then calls `tell`,
        because a listener may raise a KeyboardInterrupt.
        """
        return self.restore(event, 0)

    def append_all(self, events: Iterable[E]) -> list[E]:
        """Append all *events*, or none of them if an interrupt comes; see `append`."""
        with self._lock:
            numbered = [
                self._numbered(event, number)
                for number, event in enumerate(events, self.last_id + 1)
            ]
            self._events.extend(numbered)
        return numbered

    def tell(self, *events: Event) -> None:
        """Call the listeners with *events*, which are in the log already."""
        for event in events:
            for listener in tuple(self._listeners):
                try:
                    listener(event)
                except Exception as error:  # noqa: BLE001 - a user's code; no call may lose its answer for it
                    text = f"A callback failed: {sentence(error)}"
                    text = self._redactor.joined(remembered.redactor).sentence(text)
                    self.restore(NoticeEvent(text), 0)

    def restore(self, event: E, number: int) -> E:
        """Append *event* with *number* (0 means the next number), without calling the listeners."""
        with self._lock:
            numbered = self._numbered(event, number or self.last_id + 1)
            self._events.append(numbered)
        return numbered

    def _numbered(self, event: E, number: int) -> E:
        """Return *event* with *number*; it hides the secrets of the conversation so far."""
        if secrets := secrets_in([event]):
            self._redactor = self._redactor.including(secrets)
        return replace(event, id=number)._hiding(self._redactor)

    @property
    def last_id(self) -> int:
        """The number of the last event; 0 if there is none."""
        with self._lock:
            return self._events[-1].id if self._events else 0

    def after(self, place: int) -> list[Event]:
        """Return the events after the first *place* events."""
        with self._lock:
            return self._events[place:]

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        with self._lock:
            return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        return f"<EventLog of {len(self)}>"
