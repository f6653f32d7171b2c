"""The exchanges of one recorded server: requests, their answers, and events in between."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolbench.mcp.recording.frame import Frame

_HELD_OPEN = "subscriptions/listen"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
# Contained in each request of the newer protocol
_VERSION = "io.modelcontextprotocol/protocolVersion"

FOR_PEOPLE = frozenset({"elicitation/create", "sampling/createMessage"})
"""The methods of questions that the user or a model answers."""

EventKind = Literal["notification", "request", "stderr", "noise"]


Answered = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A server's question to the user or a model, and the client's answer."""


@dataclass(eq=False)
class Event:
    """A notification, a request or a line of output that the server sent without being asked."""

    kind: EventKind
    message: Any
    answer: Mapping[str, Any] | None = None
    """The client's answer, if the event was a request."""

    def belongs_to(self, exchange: "Exchange") -> bool:
        """Tell whether the event is a notification about *exchange*."""
        if self.kind != "notification":
            return False
        token = params_of(self.message).get("progressToken")
        if token is not None:
            return bool(exchange.token == token)
        is_of_stream = str(self.message.get("method")).startswith("notifications/subscriptions/")
        return is_of_stream and exchange.is_held_open


@dataclass(eq=False)
class Exchange:
    """One request, its answer, and everything that the server sent before the answer."""

    request: Mapping[str, Any]
    events: list[Event] = field(default_factory=list)
    """The events before the answer."""
    response: Mapping[str, Any] | None = None
    later: list[Event] = field(default_factory=list)
    """The events after the answer, before the next request."""
    failure: Mapping[str, Any] | None = None
    """The error that the caller got instead of an answer: `text`, and `asides` for the user."""
    ended: bool = False
    """Whether the connection ended before the answer."""
    cancelled: bool = False
    """Whether the client cancelled the request before it was answered."""
    next: "Exchange | None" = None
    """The next request of the same call, with the client's answers to the server's questions."""
    sent_at: float = 0.0
    """When the request was sent."""
    answered_at: float = 0.0
    """When the answer arrived; 0 without an answer."""

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
        return mapping_of(self.params.get("_meta")).get("progressToken")

    @property
    def is_modern(self) -> bool:
        """Whether the request was sent in the newer protocol."""
        return _VERSION in mapping_of(self.params.get("_meta"))

    @property
    def is_call(self) -> bool:
        """Whether the request is a tool call."""
        return self.method == "tools/call"

    @property
    def is_held_open(self) -> bool:
        """Whether the request opens a stream of notifications, and so gets no answer."""
        return self.method == _HELD_OPEN

    @property
    def last(self) -> "Exchange":
        """The last exchange of the same call, which may be this one."""
        return self.rounds[-1]

    @property
    def rounds(self) -> list["Exchange"]:
        """The exchanges of the same call, beginning with this one."""
        rounds = [self]
        while rounds[-1].next is not None:
            rounds.append(rounds[-1].next)
        return rounds

    @property
    def asked(self) -> bool:
        """Whether the server's answer consists of questions about a call or a task."""
        result = mapping_of((self.response or {}).get("result"))
        if self.method == "tasks/get":
            return result.get("status") == "input_required"
        return result.get("resultType") == "input_required"

    def questions(self) -> Iterator[Answered]:
        """Yield the questions in the server's answer, with the answers from the next exchange."""
        if not self.asked or self.next is None:
            return
        question = mapping_of((self.response or {}).get("result"))
        answers = mapping_of(self.next.params.get("inputResponses"))
        for key, request in mapping_of(question.get("inputRequests")).items():
            if isinstance(answers.get(key), Mapping):
                yield mapping_of(request), answers[key]


class Tape:
    """The exchanges with one server in the order of their requests."""

    def __init__(self, server: str, frames: Iterable[Frame]) -> None:
        """Sort the *frames* of *server* into exchanges."""
        self.server = server
        self.exchanges: list[Exchange] = []
        self.before: list[Event] = []
        """The events before the first request."""
        self.connect_error: str | None = None
        """Why no connection could be opened; None if no such failure was recorded."""
        self._open: dict[str, Exchange] = {}
        self._questions: dict[str, Event] = {}
        for frame in frames:
            self._add(frame)

    def outcome(self, call: Exchange) -> Mapping[str, Any] | None:
        """Return the answer to the tool call *call*. For a task, return the result of the task.

        Return None if the recording ends before the server has answered.
        """
        response = call.last.response
        if _task_in(response) is None:
            return response
        for exchange in self._about_task(call):
            state = mapping_of((exchange.response or {}).get("result"))
            for key in ("result", "error"):
                if exchange.method == "tasks/get" and isinstance(state.get(key), Mapping):
                    return {key: state[key]}
        return None

    def answered(self, call: Exchange) -> Iterator[Answered]:
        """Yield the server's questions during *call* that the user or a model answered."""
        for exchange in call.rounds + self._about_task(call):
            for event in exchange.events:
                answer = mapping_of(event.answer).get("result")
                if isinstance(answer, Mapping) and event.message.get("method") in FOR_PEOPLE:
                    yield event.message, answer
            yield from exchange.questions()

    def seconds(self, call: Exchange) -> float | None:
        """Return the seconds that *call* took, including waiting for answers to questions.

        Return None if the recording ends before the answer.
        """
        if self.outcome(call) is None:
            return None
        requests = call.rounds + self._about_task(call)
        ended = max(exchange.answered_at for exchange in requests)
        return max(0.0, ended - call.sent_at)

    def _about_task(self, call: Exchange) -> list[Exchange]:
        """Return the requests about the task of *call*, up to its result; empty without a task."""
        task, found = _task_in(call.last.response), []
        if task is None:
            return []
        for exchange in self.exchanges:
            if exchange.method.startswith("tasks/") and exchange.params.get("taskId") == task:
                found.append(exchange)
                state = mapping_of((exchange.response or {}).get("result"))
                if exchange.method == "tasks/get" and {"result", "error"} & state.keys():
                    break
        return found

    def _add(self, frame: Frame) -> None:
        message = frame.message
        match frame.direction:
            case "stderr" | "noise":
                self._place(Event(frame.direction, message))
            case "connect" | "end":
                self._end_connection()
            case "failure" if isinstance(message, Mapping):
                self._add_failure(message)
            case "sent" if isinstance(message, Mapping):
                self._add_sent(message, frame.at)
            case "received" if isinstance(message, Mapping):
                self._add_received(message, frame.at)

    def _add_sent(self, message: Mapping[str, Any], at: float) -> None:
        identity = str(message.get("id"))
        if "method" not in message:
            question = self._questions.pop(identity, None)
            if question is not None:
                question.answer = message
        elif "id" in message:
            exchange = Exchange(message, sent_at=at)
            self._link(exchange)
            self.exchanges.append(exchange)
            self._open[identity] = exchange
        elif message["method"] == "notifications/cancelled":
            cancelled = self._open.pop(str(params_of(message).get("requestId")), None)
            if cancelled is not None:
                cancelled.cancelled = True

    def _link(self, exchange: Exchange) -> None:
        """If *exchange* answers the questions of an earlier exchange, link it as the next one."""
        if exchange.method == "tasks/update":
            key = "taskId"
        elif exchange.is_call and {"requestState", "inputResponses"} & exchange.params.keys():
            key = "requestState"
        else:
            return
        for earlier in reversed(self.exchanges):
            if not earlier.asked:
                continue
            place = earlier.params
            if key == "requestState":
                place = mapping_of((earlier.response or {}).get("result"))
            if place.get(key) == exchange.params.get(key):
                earlier.next = earlier.next or exchange
                return

    def _add_received(self, message: Mapping[str, Any], at: float) -> None:
        identity = str(message.get("id"))
        if "method" not in message:
            exchange = self._open.pop(identity, None)
            if exchange is not None:
                exchange.response = message
                exchange.answered_at = at
        elif "id" in message:
            question = Event("request", message)
            self._questions[identity] = question
            self._place(question)
        else:
            self._place(Event("notification", message))

    def _place(self, event: Event) -> None:
        """Add *event* to the open request that it belongs to, or else to the newest open request.

        A request is open until it is answered. If no request is open, *event* is added to the
        newest request. If there has been no request yet, *event* is added to `before`.
        """
        waiting = list[Exchange]()
        for exchange in self._open.values():
            if event.belongs_to(exchange):
                exchange.events.append(event)
                return
            if not exchange.is_held_open:
                waiting.append(exchange)
        if waiting:
            waiting[-1].events.append(event)
            return
        for exchange in reversed(self.exchanges):
            if not exchange.is_held_open:
                exchange.later.append(event)
                return
        self.before.append(event)

    def _end_connection(self) -> None:
        for exchange in self._open.values():
            exchange.ended = not exchange.is_held_open
        self._open.clear()
        self._questions.clear()

    def _add_failure(self, message: Mapping[str, Any]) -> None:
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
        """Remove the request with *token*, which the server refused, and which was sent again."""
        for exchange in reversed(self.exchanges):
            if exchange.is_call:
                is_meant = exchange.token == token
            else:
                is_meant = "result" not in (exchange.response or {})
            if is_meant:
                self.exchanges.remove(exchange)
                return


def _task_in(response: Mapping[str, Any] | None) -> str | None:
    """Return the id of the task that *response* starts; None if it starts no task."""
    result = mapping_of((response or {}).get("result"))
    if result.get("resultType") != "task":
        return None
    return str(result.get("taskId"))


def params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a message; empty if they are not an object."""
    return mapping_of(message.get("params"))


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is a mapping, else an empty one, because a file may hold any value."""
    if isinstance(value, Mapping):
        return value
    return {}


def subscription_of(message: Mapping[str, Any]) -> Any:
    """Return the id of the request that opened a notification's stream; None if it has none."""
    return mapping_of(params_of(message).get("_meta")).get(_SUBSCRIPTION)


def with_subscription(message: Mapping[str, Any], identity: Any) -> dict[str, Any]:
    """Return the notification *message*, assigned to the stream of the request *identity*."""
    params = dict(message.get("params") or {})
    params["_meta"] = {**(params.get("_meta") or {}), _SUBSCRIPTION: identity}
    return {**message, "params": params}
