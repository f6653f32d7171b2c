"""Keep the JSON-RPC messages between this client and one server.

`Traffic` keeps single messages; `Exchanges` pairs requests with their answers, for views.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from threading import Lock
from time import time
from typing import Any, Literal

from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.wording import counted, duration, time_of_day

Direction = Literal["sent", "received"]
Kind = Literal["request", "response", "error", "refusal", "notification", "noise"]
_ARROWS = {"sent": "→", "received": "←"}
_OTHER: dict[Direction, Direction] = {"sent": "received", "received": "sent"}

STREAM = "subscriptions/listen"
"""The request that is answered when its stream of updates ends."""
_CANCELLED = "notifications/cancelled"
# The first request to each server; only servers of the newer protocol know it
_PROBE = "server/discover"

TRAFFIC_KEYS = ("time", "tool", "method", "ms", "state", "direction", "kind")
"""The keys of an exchange for filters."""

# The most characters of one message; longer messages are cut in the middle
_KEPT_TEXT = 100_000


@dataclass(eq=False)
class ConnectionEnd:
    """How one connection to a server ended, if it has ended; its messages refer to this."""

    transport: str
    text: str = ""
    """How the connection ended; empty while it is open."""
    time: float = 0.0
    """When the connection ended, in seconds since the epoch."""

    def note(self, how: str = "") -> None:
        """Note that the server ended the connection; a later call may add *how*, the exit code."""
        if how or not self.text:
            what = "the connection"
            if self.transport == "stdio":
                what = "the process"
            self._note(f"{what} ended{how}")

    def note_disconnect(self) -> None:
        """Note that this client closed the connection, unless the server ended it before."""
        if not self.text:
            self._note("it was disconnected")

    def _note(self, text: str) -> None:
        # The text is set last: for other threads, it shows that the connection has ended
        self.time = self.time or time()
        self.text = text


@dataclass(frozen=True)
class Message:
    """One message on the wire, with secrets hidden."""

    id: int
    """The number of the message in this session, from 1."""
    time: float
    """Seconds since the epoch."""
    direction: Direction
    kind: Kind
    """`request`, `response`, `error`, `refusal`, `notification` or `noise`.

    The result of a failed tool call is an `error` too. A `refusal` is not a failure: an older
    server refuses `server/discover`, which tries the newer protocol. `noise` is a line that is not
    a message.
    """
    method: str
    """The method; for an answer, the method of its request."""
    request_id: str | int | None
    size: int
    """The number of characters of the JSON text before it was cut."""
    text: str
    """The JSON text; a very long text is cut in the middle."""
    seconds: float | None = None
    """For an answer: the seconds since the request."""
    connection: ConnectionEnd | None = None
    """The end of the message's connection; None if unknown."""

    @property
    def is_cut(self) -> bool:
        """Whether the middle of the text is missing; it may still be valid JSON."""
        return len(self.text) > _KEPT_TEXT

    @property
    def json(self) -> Any:
        """The message as Python objects, or its text if it was cut or cannot be parsed."""
        if self.is_cut:
            return self.text
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return self.text

    def __str__(self) -> str:
        text = f"{_ARROWS[self.direction]} {self.kind} {self.method} {self.size:,} chars"
        if self.seconds is None:
            return text
        return f"{text} {duration(self.seconds)}"


class Traffic:
    """The last messages of one session, oldest first."""

    def __init__(
        self,
        redactor: Redactor = NO_SECRETS,
        *,
        limit: int = 10_000,
        budget: int = 20_000_000,
    ) -> None:
        """Create an empty list of messages."""
        self.redactor = redactor
        """Hides the secrets in later messages."""
        self.limit = limit
        """The maximum number of messages that are kept."""
        self.budget = budget
        """The maximum number of characters that are kept, of all messages together."""
        self._messages = deque[Message]()
        self._size = 0
        self._lock = Lock()
        self._ids = count(1)
        self._open: dict[tuple[Direction, str], tuple[str, float]] = {}

    def __repr__(self) -> str:
        return f"Traffic({counted(len(self), 'message')})"

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        with self._lock:
            return iter(list(self._messages))

    def __getitem__(self, index: int) -> Message:
        with self._lock:
            return self._messages[index]

    def find(
        self,
        text: str = "",
        *,
        direction: Direction | None = None,
        kind: Kind | None = None,
        method: str | None = None,
    ) -> list[Message]:
        """Return the messages with *text*, and this direction, kind and method; None means any."""
        return [
            message
            for message in self
            if text in message.text
            and direction in (None, message.direction)
            and kind in (None, message.kind)
            and method in (None, message.method)
        ]

    def to_ndjson(self) -> str:
        """Return all messages with time and direction, one JSON object per line."""
        return "".join(
            json.dumps({"time": m.time, "direction": m.direction, "message": m.json}) + "\n"
            for m in self
        )

    def clear(self) -> None:
        """Remove all messages."""
        with self._lock:
            self._messages.clear()
            self._size = 0

    def note(
        self,
        direction: Direction,
        text: str,
        *,
        kind: Kind,
        method: str = "",
        request_id: str | int | None = None,
        connection: ConnectionEnd | None = None,
    ) -> Message:
        """Add one message and return it; if there are too many, remove the oldest messages."""
        now = time()
        method, seconds = self._match(direction, kind, method, request_id, now)
        if kind == "error" and method == _PROBE:
            kind = "refusal"
        message = Message(
            id=next(self._ids),
            time=now,
            direction=direction,
            kind=kind,
            method=method,
            request_id=request_id,
            size=len(text),
            text=_cut(self.redactor.text(text)),
            seconds=seconds,
            connection=connection,
        )
        with self._lock:
            self._messages.append(message)
            self._size += len(message.text)
            while len(self._messages) > self.limit or self._size > self.budget:
                self._size -= len(self._messages.popleft().text)
        return message

    def _match(
        self,
        direction: Direction,
        kind: Kind,
        method: str,
        request_id: str | int | None,
        now: float,
    ) -> tuple[str, float | None]:
        """Return the method of a message and, if it is an answer, the seconds since its request."""
        if kind == "request":
            self._open[direction, str(request_id)] = method, now
            # Most of these requests were cancelled, and get no answer
            while len(self._open) > self.limit:
                self._open.pop(next(iter(self._open)), None)
        elif kind in ("response", "error"):
            method, since = self._open.pop((_OTHER[direction], str(request_id)), (method, now))
            return method, now - since
        return method, None


def _cut(text: str) -> str:
    if len(text) <= _KEPT_TEXT:
        return text
    half, left = _KEPT_TEXT // 2, len(text) - _KEPT_TEXT
    return f"{text[:half]} … {left:,} characters left out … {text[-half:]}"


# --- requests with their answers ----------------------------------------------------------

_SUBJECTS = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
}
"""The parameter that names the subject of a request, by method."""
_STATES: dict[Kind, str] = {
    "request": "waiting",
    "response": "ok",
    "error": "error",
    "noise": "error",
    "refusal": "refused",
    "notification": "",
}
# The most characters of a subject or outcome
_LONGEST = 200
# Messages with more characters are not parsed for a summary
_READ = 20_000


@dataclass(eq=False)
class Exchange:
    """A message, with its answer if it is a request, or the start of a new connection."""

    message: Message
    """The first message."""
    answer: Message | None = None
    before: ConnectionEnd | None = None
    """The end of the previous connection, if this is the start of a new one; else None."""
    cancel: Message | None = None
    """The message with which the sender of the request cancelled it."""

    @property
    def id(self) -> int:
        """The id of the first message, or its negative if this is the start of a new connection."""
        if self.before is not None:
            return -self.message.id
        return self.message.id

    @property
    def end(self) -> ConnectionEnd | None:
        """The end of the connection, if the request got no answer because of it; else None."""
        connection = self.message.connection
        is_over = self.answer is not None or self.cancel is not None or self.before is not None
        if self.message.kind != "request" or is_over or connection is None or not connection.text:
            return None
        return connection

    @property
    def ended(self) -> float | None:
        """When the exchange ended, in seconds since the epoch; None while waiting for an answer."""
        if self.end:
            return self.end.time
        last = self.answer or self.cancel or self.message
        if last.kind == "request" and self.before is None:
            return None
        return last.time

    @property
    def is_failed(self) -> bool:
        """Whether the request or call failed, or the server wrote a line that is not a message."""
        return self.state == "error"

    @property
    def state(self) -> str:
        """`ok`, `error`, `refused`, `waiting`, `cancelled`, `ended`, `reconnected`; or empty."""
        if self.before is not None:
            return "reconnected"
        if self.end and self.message.method == STREAM:
            return "ended"
        if self.end:
            return "error"
        if self.cancel is not None and self.answer is None:
            return "cancelled"
        return _STATES[(self.answer or self.message).kind]

    @cached_property
    def tool(self) -> str:
        """The name on the server of the called tool; empty if this is not a tool call."""
        if self.message.method != "tools/call":
            return ""
        return str(params_of(self.message).get("name", ""))

    @property
    def ms(self) -> float | None:
        """The milliseconds until the answer; None without an answer."""
        if self.answer is None or self.answer.seconds is None:
            return None
        return round(self.answer.seconds * 1000, 1)

    @property
    def searched(self) -> str:
        """The text of both messages, which filters search."""
        texts = [self.state, self.outcome]
        if self.before is None:
            texts += [self.message.method, self.message.text]
        if self.answer is not None:
            texts.append(self.answer.text)
        return "\n".join(texts)

    def value(self, key: str) -> object:
        """Return the value of *key*, one of `TRAFFIC_KEYS`, for a filter."""
        match key:
            case "time":
                return time_of_day(self.message.time)
            case "method" | "direction" | "kind" if self.before is None:
                return getattr(self.message, key)
            case "tool" | "ms" | "state":
                return getattr(self, key)
        return ""

    @property
    def subject(self) -> str:
        """The method of the message, and for some methods a parameter, such as a tool's name."""
        message = self.message
        if self.before is not None:
            return "reconnected"
        if message.kind == "noise":
            return f"no message: {message.text}"[:_LONGEST]
        name = message.method or message.kind
        if message.method in _SUBJECTS:
            about = params_of(message).get(_SUBJECTS[message.method])
            if isinstance(about, str):
                name = f"{name} {about}"
        return name[:_LONGEST]

    def __str__(self) -> str:
        # A line break in the subject must not look like another message
        return " ".join(f"{_ARROWS[self.message.direction]} {self.subject}".split())

    @property
    def outcome(self) -> str:
        """The result of a request, in a few words; empty for other messages."""
        answer = self.answer
        if self.before is not None:
            return self.before.text
        if self.end:
            return f"{self.state}: {self.end.text}"
        if answer is None and self.cancel is not None:
            return "cancelled"
        if answer is None:
            if self.message.kind == "request":
                return "no answer yet"
            return ""
        if answer.kind in ("error", "refusal"):
            reason = " ".join(_reason(_object(answer)).split())
            if not reason:
                return answer.kind
            return f"{answer.kind}: {reason}"[:_LONGEST]
        return _listed(answer) or f"result, {counted(answer.size, 'character')}"

    @property
    def took(self) -> str:
        """The time until the answer, in words; empty without an answer."""
        if self.answer is None or self.answer.seconds is None:
            return ""
        return duration(self.answer.seconds)


class Exchanges:
    """Pairs requests with their answers, as messages arrive."""

    def __init__(self) -> None:
        """Start without messages."""
        self._open: dict[tuple[Direction, str], Exchange] = {}
        # The latest connection, and all connections
        self._connection: ConnectionEnd | None = None
        self._connections = set[ConnectionEnd]()

    def add(self, messages: Iterable[Message]) -> list[Exchange]:
        """Add *messages*; return new and changed exchanges, even those that end unanswered."""
        changed: dict[int, Exchange] = {}
        for message in messages:
            before, now = self._connection, message.connection
            # Answers of an older connection may arrive between those of the new one
            if now is not None and now not in self._connections:
                self._connections.add(now)
                self._connection = now
                if before is not None:
                    changed[-message.id] = Exchange(message, before=before)
            exchange = self._of(message)
            changed[exchange.id] = exchange
            if message.method == _CANCELLED:
                request_id = str(params_of(message).get("requestId"))
                cancelled = self._open.get((message.direction, request_id))
                if cancelled is not None:
                    cancelled.cancel = message
                    changed[cancelled.id] = cancelled
        for key, exchange in list(self._open.items()):
            if exchange.end:
                del self._open[key]
                changed[exchange.id] = exchange
        return list(changed.values())

    def _of(self, message: Message) -> Exchange:
        request_id = str(message.request_id)
        if message.kind in ("response", "error", "refusal"):
            request = self._open.pop((_OTHER[message.direction], request_id), None)
            if request is not None:
                request.answer = message
                return request
        exchange = Exchange(message)
        if message.kind == "request":
            self._open[message.direction, request_id] = exchange
        return exchange


def paired(messages: Iterable[Message]) -> list[Exchange]:
    """Return *messages* paired as exchanges, in the order of their first messages."""
    return Exchanges().add(messages)


def params_of(message: Message) -> dict[str, Any]:
    """Return the parameters of a message; empty if they are missing or cannot be read."""
    params = _object(message, limit=len(message.text)).get("params")
    if isinstance(params, dict):
        return params
    return {}


def _reason(answer: dict[str, Any]) -> str:
    """Return why a request failed: the message of an error, or the first text of a failed call."""
    outcome = answer
    # The outcome of a task is in the state of the task
    while isinstance(outcome.get("result"), dict):
        outcome = outcome["result"]
    error, blocks = outcome.get("error"), outcome.get("content")
    if isinstance(error, dict):
        return str(error.get("message") or "")
    if isinstance(blocks, list):
        for block in blocks:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                return str(block["text"])
    return str(outcome.get("statusMessage") or "")


def _listed(answer: Message) -> str:
    """Return in words how many items an answer to `*/list` has; empty for other answers."""
    kind, _, verb = answer.method.rpartition("/")
    if verb != "list":
        return ""
    name, noun = kind, kind.removesuffix("s")
    if kind == "resources/templates":
        name, noun = "resourceTemplates", "template"
    result = _object(answer, limit=len(answer.text)).get("result")
    if not isinstance(result, dict) or not isinstance(result.get(name), list):
        return ""
    return counted(len(result[name]), noun)


def _object(message: Message, *, limit: int = _READ) -> dict[str, Any]:
    if len(message.text) > limit:
        return {}
    try:
        value = json.loads(message.text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, dict):
        return value
    return {}
