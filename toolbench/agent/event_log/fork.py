"""Fork a conversation: begin a new one with the events of another, up to a chosen event."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolbench.agent.event_log.rebuild import Rebuild
from toolbench.agent.events import ActionEvent, Event, MessageEvent
from toolbench.errors import ToolbenchError

if TYPE_CHECKING:
    from toolbench.agent.loop import Loop


def fork(loop: "Loop", other: "Loop", last: Event | int | None) -> None:
    """Copy the events of *other* into *loop*, up to the event *last*; all events if *last* is None.

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
    is_same = other.context.provider == loop.context.provider
    rebuild = Rebuild(loop, is_same=is_same, unread=unread)
    for event in copied:
        rebuild.take(event)
    rebuild.end()
    loop.requests.spending = other.requests.spending.before(loop.log.last_id)


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
