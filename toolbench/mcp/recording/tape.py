"""The exchanges of one recorded server: requests, answers, and events between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from toolbench.mcp.recording.frame import Frame

_HELD_OPEN = "subscriptions/listen"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
# In each request of the newer protocol
_VERSION = "io.modelcontextprotocol/protocolVersion"

EventKind = Literal["notification", "request", "stderr", "noise"]


@dataclass(eq=False)
class Event:
    """What the server sent, but not as an answer: a notification, a request of its own, or a line."""

    kind: EventKind
    message: Any
    answer: Mapping[str, Any] | None = None
    """Our answer, if the event was a request."""


@dataclass(eq=False)
class Exchange:
    """One request, what the server sent for it, and its answer."""

    request: Mapping[str, Any]
    events: list[Event] = field(default_factory=list)
    """The events before the answer."""
    response: Mapping[str, Any] | None = None
    later: list[Event] = field(default_factory=list)
    """The events after the answer, before the next request."""
    failure: Mapping[str, Any] | None = None
    """The error that the caller got instead of an answer: `text` and `asides`."""
    ended: bool = False
    """Whether the connection ended before the answer."""
    cancelled: bool = False
    """Whether we cancelled the request before its answer."""
    next: "Exchange | None" = None
    """The next round of the same call, with our answers to the server's questions."""

    @property
    def method(self) -> str:
        """The method of the request."""
        return str(self.request.get("method"))

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of the request."""
        return params_of(self.request)

    @property
    def token(self) -> Any:
        """The progress token of the request."""
        meta = self.params.get("_meta")
        return meta.get("progressToken") if isinstance(meta, Mapping) else None

    @property
    def is_modern(self) -> bool:
        """Whether the request was sent over the newer protocol."""
        return _VERSION in mapping_of(self.params.get("_meta"))

    @property
    def is_call(self) -> bool:
        """Whether the request is a tool call."""
        return self.method == "tools/call"

    @property
    def is_held_open(self) -> bool:
        """Whether the request opens a stream of notifications, which gets no answer."""
        return self.method == _HELD_OPEN

    @property
    def last(self) -> "Exchange":
        """The last round of the same call: the exchange itself, or a later one."""
        exchange, visited = self, {id(self)}
        while exchange.next is not None and id(exchange.next) not in visited:
            exchange = exchange.next
            visited.add(id(exchange))
        return exchange

    @property
    def asked(self) -> bool:
        """Whether the server's answer is a question to this client, about a call or a task."""
        result = mapping_of((self.response or {}).get("result"))
        key = "status" if self.method == "tasks/get" else "resultType"
        return result.get(key) == "input_required"


class Tape:
    """The exchanges with one server, in the order of their requests."""

    def __init__(self, server: str) -> None:
        """Make an empty tape."""
        self.server = server
        self.exchanges: list[Exchange] = []
        self.before: list[Event] = []
        """The events before the first request."""
        self.connect_error: str | None = None
        """The reason why no connection could be opened; None if no such failure is recorded."""
        self._open: dict[str, Exchange] = {}
        self._questions: dict[str, Event] = {}

    @classmethod
    def of(cls, server: str, frames: Iterable[Frame]) -> Self:
        """Return the tape of *server* from its *frames*."""
        tape = cls(server)
        for frame in frames:
            tape.add(frame)
        return tape

    def outcome(self, call: Exchange) -> Mapping[str, Any] | None:
        """Return the answer to the tool call *call*. If the call ran as a task: the task's result.

        Return None if the recording ends before the answer.
        """
        response = call.last.response
        result = mapping_of((response or {}).get("result"))
        task = mapping_of(result.get("task")).get("taskId")
        if result.get("resultType") == "task":
            task = result.get("taskId")
        if task is None or "content" in result:
            return response
        own = [e for e in self.exchanges if e.params.get("taskId") == task]
        for exchange in own:
            if exchange.method == "tasks/result" and exchange.response is not None:
                return exchange.response
        states = [e.response or {} for e in own if e.method == "tasks/get"]
        for state in (mapping_of(response.get("result")) for response in states):
            for key in ("result", "error"):
                if isinstance(state.get(key), Mapping):
                    return {key: state[key]}
        return None

    def add(self, frame: Frame) -> None:
        """Add the next frame."""
        message = frame.message
        match frame.direction:
            case "stderr" | "noise":
                self._happened(Event(frame.direction, message))
            case "connect" | "end":
                self._ended()
            case "failure" if isinstance(message, Mapping):
                self._failed(message)
            case "sent" if isinstance(message, Mapping):
                self._sent(message)
            case "received" if isinstance(message, Mapping):
                self._received(message)

    def _sent(self, message: Mapping[str, Any]) -> None:
        identity = str(message.get("id"))
        if "method" not in message:
            if (question := self._questions.pop(identity, None)) is not None:
                question.answer = message
        elif "id" in message:
            exchange = Exchange(message)
            self._follows(exchange)
            self.exchanges.append(exchange)
            self._open[identity] = exchange
        elif message["method"] == "notifications/cancelled":
            identity = str(params_of(message).get("requestId"))
            if (cancelled := self._open.pop(identity, None)) is not None:
                cancelled.cancelled = True

    def _follows(self, exchange: Exchange) -> None:
        """Link *exchange* to the earlier round of the same call or task, if there is one."""
        if exchange.method == "tasks/update":
            self._answers(exchange)
        state = exchange.params.get("requestState")
        if not exchange.is_call or (state is None and "inputResponses" not in exchange.params):
            return
        for earlier in reversed(self.exchanges):
            result = (earlier.response or {}).get("result") or {}
            if earlier.asked and result.get("requestState") == state:
                earlier.next = earlier.next or exchange
                return

    def _answers(self, exchange: Exchange) -> None:
        """Link *exchange*, which sends our answers, to the question of the task."""
        task = exchange.params.get("taskId")
        for earlier in reversed(self.exchanges):
            if earlier.asked and earlier.params.get("taskId") == task:
                earlier.next = earlier.next or exchange
                return

    def _received(self, message: Mapping[str, Any]) -> None:
        identity = str(message.get("id"))
        if "method" not in message:
            exchange = self._open.pop(identity, None)
            if exchange is not None:
                exchange.response = message
        elif "id" in message:
            question = Event("request", message)
            self._questions[identity] = question
            self._happened(question)
        else:
            self._happened(Event("notification", message), self._meant(message))

    def _meant(self, message: Mapping[str, Any]) -> Exchange | None:
        """Return the open exchange to which a notification belongs; None if it belongs to none."""
        token = params_of(message).get("progressToken")
        if token is not None:
            return next((e for e in self._open.values() if e.token == token), None)
        if str(message.get("method")).startswith("notifications/subscriptions/"):
            return next((e for e in self._open.values() if e.is_held_open), None)
        return None

    def _happened(self, event: Event, exchange: Exchange | None = None) -> None:
        """Add *event* to *exchange*; if this is None, add *event* to the newest open exchange.

        If no exchange is open, the newest answered exchange gets *event*. An event before the
        first request is kept in `before`.
        """
        waiting = [e for e in self._open.values() if not e.is_held_open]
        if exchange is not None or waiting:
            (exchange or waiting[-1]).events.append(event)
        elif answered := [e for e in self.exchanges if not e.is_held_open]:
            answered[-1].later.append(event)
        else:
            self.before.append(event)

    def _ended(self) -> None:
        for exchange in self._open.values():
            exchange.ended = not exchange.is_held_open
        self._open.clear()
        self._questions.clear()

    def _failed(self, message: Mapping[str, Any]) -> None:
        token = message.get("token")
        if message.get("repeated") is True:
            self._forget(token)
            return
        if token is None:
            self.connect_error = str(message.get("text"))
            return
        for exchange in reversed(self.exchanges):
            if exchange.is_call and exchange.token == token:
                exchange.failure = message
                return

    def _forget(self, token: Any) -> None:
        """Remove the request that the server refused, because the request is sent again."""
        for exchange in reversed(self.exchanges):
            has_failed = "error" in (exchange.response or {}) or not exchange.response
            if exchange.token == token if exchange.is_call else has_failed:
                self.exchanges.remove(exchange)
                return


def params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a message; empty if they are not an object."""
    return mapping_of(message.get("params"))


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is an object, else an empty object, because a file may hold any value."""
    return value if isinstance(value, Mapping) else {}


def subscription_of(message: Mapping[str, Any]) -> Any:
    """Return the id of the request that opened the stream of a notification; None if it has no stream."""
    meta = params_of(message).get("_meta")
    return meta.get(_SUBSCRIPTION) if isinstance(meta, Mapping) else None


def with_subscription(message: Mapping[str, Any], identity: Any) -> dict[str, Any]:
    """Return *message*, a notification, marked for the stream that the request *identity* opened."""
    params = dict(message.get("params") or {})
    params["_meta"] = {**(params.get("_meta") or {}), _SUBSCRIPTION: identity}
    return {**message, "params": params}
