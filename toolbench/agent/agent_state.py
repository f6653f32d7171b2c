"""What was said and done in one conversation so far: the state that its loop changes.

The log has all events. Beside it stands what follows from the events: the messages for the model,
the messages that the model has not read, the calls of its last answer, what was spent, and why the
work stopped. `conversation_file` saves it, `rebuild` makes it again from the events of a file or of
another conversation, and `settling` repairs it after an interrupt.
"""

import json
from collections import deque
from collections.abc import Iterable
from threading import Event as Flag
from threading import Lock
from typing import Any

from toolbench.agent.call_round import Round
from toolbench.agent.context import Context
from toolbench.agent.event_log import EventLog
from toolbench.agent.events import MessageEvent, StopReason, begins_answer
from toolbench.core.content import TextContent
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.compose import user_parts
from toolbench.llm.message import Message, TextPart
from toolbench.llm.models import Usage

Row = tuple[int, int | None, int | None, float | None]

_LIMIT = 3


class Repeats:
    """Counts how often the same call was made in a row."""

    def __init__(self) -> None:
        """Make a counter that has counted no call."""
        self._last = ""
        self._times = 0
        self.is_stuck = False
        """Whether a call was made three times in a row."""

    def clear(self) -> None:
        """Start counting from zero, when the user lets the model go on."""
        self._last, self._times, self.is_stuck = "", 0, False

    def is_third(self, call: ToolCall) -> bool:
        """Count *call*; tell whether the same call was made at least three times in a row."""
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


class Spending:
    """The tokens and cost of each answer, and their sum.

    Each answer is kept with the number of the event before the answer, so that a fork can count
    the answers that it copied.
    """

    def __init__(self) -> None:
        """Make a record without answers; the sum is zero."""
        self._entries: list[tuple[int, Usage]] = []
        self._lock = Lock()
        self.total = Usage()
        """The sum of all answers, as far as the models report it."""

    def add(self, usage: Usage, after: int) -> None:
        """Add *usage*, which was spent after the event number *after*."""
        with self._lock:
            self._entries.append((after, usage))
            self.total += usage

    def before(self, event: int) -> "Spending":
        """Return the part of the spending that came before the event with the number *event*."""
        past = Spending()
        for after, usage in tuple(self._entries):
            if after < event:
                past.add(usage, after)
        return past

    def rows(self) -> list[Row]:
        """Return a row for each answer: the number of the event before, tokens in and out, dollars."""
        entries = tuple(self._entries)
        return [(n, u.input_tokens, u.output_tokens, u.cost) for n, u in entries]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Spending":
        """Return the spending in *rows*, which the method `rows` made.

        Raises:
            TypeError: If an item is not a row.
            ValueError: If a row does not have four parts.
        """
        spending = cls()
        for after, read, written, cost in rows:
            spending.add(Usage(read, written, cost).checked(), int(after))
        return spending


class AgentState:
    """The events of a conversation, and what follows from them."""

    def __init__(self, log: EventLog, context: Context) -> None:
        """Begin with an empty *log*, and a *context* without turns."""
        self.log = log
        self.context = context
        """The messages for the model."""
        self.inbox: deque[MessageEvent] = deque()
        """The messages that were not sent to the model yet."""
        self.round: Round | None = None
        """The calls of the model's last answer; None as soon as all of them are answered."""
        self.over: StopReason | None = None
        """Why the work stopped; None if it can go on."""
        self.detail = ""
        """More about the reason, for the event of the stop."""
        self.stopping = Flag()
        """Set when the user wants the work to stop."""
        self.wants_condensing = False
        """Whether to summarise the older turns before the next request."""
        self.repeats = Repeats()
        self.spending = Spending()
        self._call_ids: dict[str, int] = {}
        """The ids of calls, each with the number of calls that had this id so far."""

    @property
    def steps(self) -> int:
        """The number of answers of the model."""
        return sum(map(begins_answer, self.log))

    @property
    def failure(self) -> StopReason | None:
        """Why a single step stopped, if the model did not answer; None if it did."""
        if self.over in ("error", "paused"):
            return self.over
        return None

    @property
    def unread(self) -> list[int]:
        """The numbers of the messages that were not sent to the model yet."""
        return [event.id for event in self.inbox]

    # --- messages --------------------------------------------------------------------

    def read(self, event: MessageEvent) -> None:
        """Give *event* to the model with the next request; end the work if the event says so."""
        if event.is_exit:
            self.end("finished", event.text.strip())
        else:
            self.end(None)
            self.add(event)

    def add(self, event: MessageEvent) -> None:
        """Add *event*, which the model did not write, to the messages for the model."""
        self.context.add([self.message_of(event)], [event.id])

    def message_of(self, event: MessageEvent) -> Message:
        """Return *event*, which the model did not write, as a message for the model."""
        if all(isinstance(block, TextContent) for block in event.content):
            return Message("user", (TextPart(event.text),))
        return Message("user", tuple(user_parts(event.content)))

    def add_answer(self, event: MessageEvent, message: Message) -> None:
        """Add *message*, which the model wrote without a call, to the messages; it ends the work."""
        self.context.add([message], [event.id])
        self.end("answered")

    def forget(self, read: set[int]) -> None:
        """Forget the unread messages with the numbers *read*; stop if the model answered all messages."""
        while self.inbox and self.inbox[0].id in read:
            self.inbox.popleft()
        if not (self.over or self.round or self.inbox) and self.context.is_answered:
            self.end("answered")

    def end(self, reason: StopReason | None, detail: str = "") -> None:
        """Stop for *reason* until the next message of the user; None lets the work go on."""
        self.over, self.detail = reason, detail

    # --- calls -----------------------------------------------------------------------

    def take_over_round(self, current: Round) -> None:
        """Copy *current*, a round of calls. Calls without an answer will wait for a decision."""
        self.end(None)
        for call in current.calls:
            self._call_ids.setdefault(call.tool_call_id, 1)
        self.round = current
        self.close_round()

    def close_round(self) -> None:
        """If all calls are answered, add the calls and the answers to the model's messages."""
        current = self.round
        if current is None or current.waiting:
            return
        self.context.add(current.messages(), current.event_ids)
        self.round = None
        if self.repeats.is_stuck:
            self.end("repeated", "the same call, three times in a row")
        elif current.is_finished:
            self.end("finished")

    def new_call_id(self, sent: str | None) -> str:
        """Return an id for a call that is unique in the conversation: *sent*, if no call has it yet."""
        id_ = sent or "call"
        number = self._call_ids.get(id_, 0) + 1
        new = id_
        if number > 1:
            new = f"{id_}-{number}"
        while new in self._call_ids:
            number += 1
            new = f"{id_}-{number}"
        self._call_ids[id_] = number
        self._call_ids.setdefault(new, 1)
        return new
