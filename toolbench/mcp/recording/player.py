"""Play the server of a recording: answer each request with its recorded answer."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import anyio

from toolbench.mcp.recording.matcher import HANDSHAKE, Matcher
from toolbench.mcp.recording.tape import (
    Event,
    Exchange,
    Tape,
    mapping_of,
    params_of,
    subscription_of,
    with_subscription,
)
from toolbench.redaction import without_numbers
from toolbench.runs.questions import Answer

NOT_RECORDED = -32004
"""The code of the error for a request that is not in the recording."""
CUT_OFF = "The recording ended before the server answered."
CANCELLED = "In the recording this call was cancelled before the server answered."
_FAILED_THEN = -32005
_KEY = "toolbench.failure"


class RecordedFailureError(ConnectionError):
    """In the recording, no connection could be opened; the message says why."""


def failure_error(failure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-RPC error for a recorded *failure*."""
    text = str(failure.get("text"))
    asides = failure.get("asides")
    details = {"text": text, "asides": asides if isinstance(asides, list) else []}
    return {"code": _FAILED_THEN, "message": text, "data": {_KEY: details}}


def recorded_failure(error: BaseException) -> tuple[str, tuple[str, ...]] | None:
    """Return the text and the asides, if *error* repeats a recorded failure; None for other errors."""
    data = getattr(error, "data", None)
    details = data.get(_KEY) if isinstance(data, Mapping) else None
    if not isinstance(details, Mapping):
        return None
    return str(details.get("text")), tuple(map(str, details.get("asides") or ()))


_METHOD_NOT_FOUND = -32601
_OTHER_ERA = "The recording is of another version of MCP: connect without a mode."
_QUIET = frozenset({"ping", "logging/setLevel"})
"""Requests that get an empty answer if they are not recorded."""

_FOR_PEOPLE = frozenset({"elicitation/create", "sampling/createMessage"})
"""Questions that a person or a model answers."""

_IN_ROUNDS = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Requests that may get questions as their answer in the newer protocol."""
_QUESTION = "question"


class LineListener:
    """The base class of listeners to lines of the server that are not messages; it ignores them."""

    def stderr(self, line: str) -> None:
        """Take a line of stderr."""

    def noise(self, line: str) -> None:
        """Take a line of stdout that is not a message."""


class Player:
    """Answers in place of one recorded server, whose recorded messages are its tape.

    A new connection goes on at the place of the tape where the last connection stopped. A
    recording may have connections of both eras of the protocol. A call is answered in either era:
    its questions are sent in the way of the present connection.
    """

    def __init__(self, tape: Tape) -> None:
        """Answer from *tape*."""
        self.tape = tape
        self.matcher = Matcher(tape.exchanges)
        self._before = list(tape.before)
        self.pending: list[tuple[Any, Mapping[str, Any]]] = []
        """Open questions of the server, with their recorded answers."""

    @property
    def connect_error(self) -> str | None:
        """The reason why no connection could be opened; None if a connection was opened."""
        opened = any(
            e.method not in HANDSHAKE and "result" in (e.response or {})
            for e in self.tape.exchanges
        )
        return None if opened else self.tape.connect_error

    async def serve(self, end: Any, listener: LineListener) -> None:
        """Answer the requests at *end*, a `ServerEnd`, until the connection ends."""
        await _Connection(self, end, listener).serve()

    def recorded_answer(self, question: Any) -> Answer:
        """Return the recorded answer to *question* of the server; decline if there is none."""
        for number, (message, answer) in enumerate(self.pending):
            text = None if hasattr(question, "messages") else question.message
            if message == text:
                del self.pending[number]
                return _as_answer(answer)
        return Answer("decline")

    def take_before(self) -> list[Event]:
        """Return what the server sent before the first request; empty at the second call."""
        events, self._before = self._before, []
        return events


class _Paused(NamedTuple):
    """A request whose recorded question the client answers in its next round."""

    exchange: Exchange
    place: int
    """The number of the question among the events of the exchange."""


class _Connection:
    """One connection to a player. It runs in the background loop."""

    def __init__(self, player: Player, end: Any, listener: LineListener) -> None:
        self._player = player
        self._end = end
        self._listener = listener
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._answers: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        # The ids of requests that are held open
        self._streams: list[Any] = []
        # By recorded progress token: the new one
        self._tokens: dict[str, Any] = {}
        # Whether the client opened it with the older protocol
        self._is_older = False
        # By the state that the client sends back
        self._paused: dict[str, _Paused] = {}
        self._numbers = count(1)

    async def serve(self) -> None:
        async with anyio.create_task_group() as tasks:
            for event in self._player.take_before():
                await self._happen(event)
            async for message in self._end:
                match message:
                    case {"method": "notifications/cancelled"}:
                        self._cancel((message.get("params") or {}).get("requestId"))
                    case {"method": _, "id": _}:
                        tasks.start_soon(self._answer, message)
                    case {"id": identity} if str(identity) in self._answers:
                        answer = self._answers.pop(str(identity))
                        if not answer.done():
                            answer.set_result(message)

    def _cancel(self, identity: Any) -> None:
        if (scope := self._scopes.get(str(identity))) is not None:
            scope.cancel()

    async def _answer(self, message: dict[str, Any]) -> None:
        identity = message["id"]
        with anyio.CancelScope() as scope:
            self._scopes[str(identity)] = scope
            await self._play(message)
        self._scopes.pop(str(identity), None)

    async def _play(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            self._is_older = True
        paused = self._paused.pop(str(params.get("requestState")), None)
        if paused is not None:
            await self._go_on(paused, message)
            return
        exchange = self._player.matcher.find(method, params)
        if exchange is None:
            self._end.send(_reply(message, self._unknown(method, params)))
            return
        if exchange.is_held_open:
            self._streams.append(message["id"])
        await self._repeat(exchange, message)

    async def _repeat(self, exchange: Exchange, message: dict[str, Any], start: int = 0) -> None:
        """Repeat what was recorded for *exchange*, from the event *start* on, to answer *message*."""
        if exchange.is_call:
            meta = params_of(message).get("_meta") or {}
            self._tokens[str(exchange.token)] = meta.get("progressToken")
        for place, event in enumerate(exchange.events[start:], start):
            if not self._is_older and _is_for_rounds(exchange, event):
                self._pause(_Paused(exchange, place), message)
                return
            problem = await self._happen(event)
            if problem is not None:
                self._refuse(message, problem)
                return
        is_from_newer = self._is_older and exchange.is_modern
        if is_from_newer and exchange.asked and exchange.method in _IN_ROUNDS:
            await self._ask_each(exchange, message)
            return
        await self._end_of(exchange, message)
        for event in exchange.later:
            await self._happen(event)

    def _refuse(self, message: dict[str, Any], problem: str) -> None:
        error = {"code": NOT_RECORDED, "message": problem}
        self._end.send(_reply(message, {"error": error}))

    # --- questions that were recorded in the other era of the protocol ---------------

    def _pause(self, paused: _Paused, message: dict[str, Any]) -> None:
        """Answer *message* with a question that the recorded server sent as a request."""
        event = paused.exchange.events[paused.place]
        question = without_numbers(event.message)
        recorded = mapping_of(mapping_of(event.answer).get("result"))
        self._player.pending.append((params_of(question).get("message"), recorded))
        state = f"toolbench-replay-{next(self._numbers)}"
        self._paused[state] = paused
        request = {key: question[key] for key in ("method", "params")}
        result = {
            "resultType": "input_required",
            "inputRequests": {_QUESTION: request},
            "requestState": state,
        }
        self._end.send(_reply(message, {"result": result}))

    async def _go_on(self, paused: _Paused, message: dict[str, Any]) -> None:
        """Go on after a question of `_pause`, to which *message* has the answer."""
        exchange, place = paused
        answers = mapping_of(params_of(message).get("inputResponses"))
        answered = {"result": answers.get(_QUESTION)}
        problem = _otherwise(exchange.events[place], answered)
        if problem is not None:
            self._refuse(message, problem)
            return
        await self._repeat(exchange, message, place + 1)

    async def _ask_each(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """Send the questions in the recorded answer as requests; go on with the next round."""
        if exchange.next is None:
            error = failure_error({"text": CUT_OFF})
            self._end.send(_reply(message, {"error": error}))
            return
        result = mapping_of((exchange.response or {}).get("result"))
        answers = mapping_of(exchange.next.params.get("inputResponses"))
        for key, request in mapping_of(result.get("inputRequests")).items():
            identity = f"toolbench-replay-{next(self._numbers)}"
            question = {"jsonrpc": "2.0", "id": identity, **mapping_of(request)}
            event = Event("request", question, {"result": answers.get(key)})
            problem = await self._ask(event)
            if problem is not None:
                self._refuse(message, problem)
                return
        for event in exchange.later:
            await self._happen(event)
        await self._repeat(exchange.next, message)

    # --- the end of a request ---------------------------------------------------------

    async def _end_of(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """End *exchange* as recorded: by an answer, a failure, a closed connection, or not at all."""
        if exchange.failure is not None:
            self._end.send(_reply(message, {"error": failure_error(exchange.failure)}))
        elif exchange.response is not None:
            self._player.pending += rounds(exchange)
            response = without_numbers(exchange.response)
            fields = {k: v for k, v in response.items() if k in ("result", "error")}
            self._end.send(_reply(message, fields))
        if exchange.ended:
            self._end.hang_up()
        elif exchange.response is None and exchange.failure is None:
            await self._leave_open(exchange, message)

    async def _leave_open(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """Answer a request that has no recorded response with an error.

        A stream stays open, and so does a cancelled request that is not a call of a tool.
        """
        if exchange.is_held_open or (exchange.cancelled and not exchange.is_call):
            await anyio.sleep_forever()
        reason = CANCELLED if exchange.cancelled else CUT_OFF
        error = failure_error({"text": reason})
        self._end.send(_reply(message, {"error": error}))

    def _unknown(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method in _QUIET:
            return {"result": {}}
        # The other protocol: the client tries the next one
        if method in HANDSHAKE:
            text = f"Not recorded: {method}. {_OTHER_ERA}"
            error = {"code": _METHOD_NOT_FOUND, "message": text}
            return {"error": error}
        text = self._player.matcher.missing(method, params)
        return {"error": {"code": NOT_RECORDED, "message": text}}

    # --- events: what the server sent without a request ------------------------------

    async def _happen(self, event: Event) -> str | None:
        """Repeat *event*; return the problem if our answer differs from the recorded answer."""
        match event.kind:
            case "stderr":
                self._listener.stderr(str(without_numbers(event.message)))
            case "noise":
                self._listener.noise(str(without_numbers(event.message)))
            case "notification":
                self._tell(event)
            case "request":
                return await self._ask(event)
        return None

    def _tell(self, event: Event) -> None:
        notification = without_numbers(event.message)
        params = notification.get("params")
        if isinstance(params, dict) and "progressToken" in params:
            token = self._tokens.get(str(params["progressToken"]))
            if token is None:
                # Its call was not replayed
                return
            notification = {
                **notification,
                "params": {**params, "progressToken": token},
            }
        if subscription_of(notification) is not None:
            for identity in self._streams[-1:]:
                self._end.send(with_subscription(notification, identity))
            return
        self._end.send(notification)

    async def _ask(self, event: Event) -> str | None:
        question = without_numbers(event.message)
        identity = str(question.get("id"))
        answer = asyncio.get_running_loop().create_future()
        self._answers[identity] = answer
        recorded = (event.answer or {}).get("result")
        params = params_of(question)
        if isinstance(recorded, Mapping) and question.get("method") in _FOR_PEOPLE:
            self._player.pending.append((params.get("message"), recorded))
        self._end.send(question)
        if event.answer is None or question.get("method") not in _FOR_PEOPLE:
            # It has no recorded answer, or the client answers by itself (its roots)
            return None
        with suppress(asyncio.CancelledError):
            answered = await answer
            return _otherwise(event, answered)
        raise asyncio.CancelledError


def _is_for_rounds(exchange: Exchange, event: Event) -> bool:
    """Tell whether the newer protocol sends the question *event* as the answer to the request."""
    question = mapping_of(event.message)
    return (
        event.kind == "request"
        and exchange.method in _IN_ROUNDS
        and not exchange.is_modern
        and question.get("method") in _FOR_PEOPLE
        and "params" in question
        and isinstance(mapping_of(event.answer).get("result"), Mapping)
    )


def rounds(exchange: Exchange) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield each question in the response of *exchange*, with the answer that the client gave."""
    if not exchange.asked or exchange.next is None:
        return
    question = mapping_of((exchange.response or {}).get("result"))
    answers = mapping_of(exchange.next.params.get("inputResponses"))
    for key, request in mapping_of(question.get("inputRequests")).items():
        if isinstance(answers.get(key), Mapping):
            message = params_of(mapping_of(request)).get("message")
            yield without_numbers(message), answers[key]


def _as_answer(answer: Mapping[str, Any]) -> Answer:
    # A message, written in place of a model
    if "role" in answer:
        return Answer("accept", dict(answer))
    content = answer.get("content")
    action = answer.get("action", "decline")
    return Answer(action, dict(content) if isinstance(content, Mapping) else None)


def _otherwise(event: Event, answered: Mapping[str, Any]) -> str | None:
    """Return a sentence on how our answer differs from the recorded answer; None if they match."""
    recorded = event.answer or {}
    one, other = ({"result": a.get("result")} for a in (recorded, answered))
    matcher = Matcher([Exchange({"method": "answer", "params": one})])
    if matcher.find("answer", other) is not None:
        return None
    reason = matcher.missing("answer", other)
    return f"The server's question got another answer than in the recording. {reason}"


def _reply(message: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], **body}
