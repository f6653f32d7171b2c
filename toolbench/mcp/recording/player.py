"""Play a recorded server: answer each request with its recorded answer.

A call that failed in the recording gets an error as its answer, from which `recorded_failure`
extracts the recorded text. `recorded_answerer` answers the server's questions as the user or the
model answered them in the recording.
"""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.elicitation import Answerer, Question, ask_here, for_person
from toolbench.mcp.recording.matcher import HANDSHAKE, Matcher
from toolbench.mcp.recording.tape import (
    FOR_PEOPLE,
    Event,
    Exchange,
    Tape,
    mapping_of,
    params_of,
    subscription_of,
    with_subscription,
)
from toolbench.redaction import without_numbers
from toolbench.runs.dialogue import preset_here
from toolbench.runs.questions import Answer

if TYPE_CHECKING:
    from toolbench.mcp.monitoring.notifications import Inbox
    from toolbench.mcp.wire.memory import ServerEnd

NOT_RECORDED = -32004
"""The code of the error for a request that is not in the recording."""
CUT_OFF = "The recording ended before the server answered."
CANCELLED = "In the recording this call was cancelled before the server answered."
_FAILED_THEN = -32005
_KEY = "toolbench.failure"
_METHOD_NOT_FOUND = -32601
_OTHER_ERA = "The recording is of another version of MCP: connect without a mode."
_QUIET = frozenset({"ping", "logging/setLevel"})
"""Requests that get an empty answer if they were not recorded."""

_IN_ROUNDS = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Requests that the newer protocol may answer with questions."""
_QUESTION = "question"


class RecordedFailureError(ConnectionError):
    """The recorded connection could not be opened; the message says why."""


def _failure_error(text: str, asides: Any = ()) -> dict[str, Any]:
    """Return the JSON-RPC error that repeats a recorded failure."""
    if not isinstance(asides, list):
        asides = []
    details = {"text": text, "asides": asides}
    return {"code": _FAILED_THEN, "message": text, "data": {_KEY: details}}


def recorded_failure(error: BaseException) -> tuple[str, tuple[str, ...]] | None:
    """Return the text and the notes of the recorded failure that *error* repeats; else None."""
    details = mapping_of(mapping_of(getattr(error, "data", None)).get(_KEY))
    if not details:
        return None
    return str(details.get("text")), tuple(map(str, details.get("asides") or ()))


class Player:
    """Replays one recorded server: answers requests with its recorded answers.

    If the client connects again, the replay continues where the last connection ended. A recording
    may contain connections of the older protocol (MCP 2025-11-25 and before) and of the newer one.
    A replay in the newer protocol can repeat the calls of both kinds. It converts the server's
    questions from the older protocol.
    """

    def __init__(self, tape: Tape) -> None:
        """Create a player that answers from *tape*."""
        self.tape = tape
        self.matcher = Matcher(tape.exchanges)
        self._before = list(tape.before)
        self.pending: list[tuple[Any, Mapping[str, Any]]] = []
        """The server's open questions, with their recorded answers."""

    async def serve(self, end: "ServerEnd", inbox: "Inbox") -> None:
        """Answer the requests that arrive at *end* until the connection ends.

        *inbox* receives the recorded lines of stderr, and the lines on stdout that are not
        messages.

        Raises:
            RecordedFailureError: If connecting also failed when the session was recorded.
        """
        if self.tape.connect_error is not None and not self._was_opened():
            raise RecordedFailureError(self.tape.connect_error)
        await _Connection(self, end, inbox).serve()

    def _was_opened(self) -> bool:
        for exchange in self.tape.exchanges:
            if exchange.method not in HANDSHAKE and "result" in (exchange.response or {}):
                return True
        return False

    def recorded_answer(self, question: Any) -> Answer:
        """Return the recorded answer to the server's *question*; a refusal if there is none."""
        text = None
        if not hasattr(question, "messages"):
            text = question.message
        for number, (message, answer) in enumerate(self.pending):
            if message == text:
                del self.pending[number]
                return _as_answer(answer)
        return Answer("decline")

    def take_before(self) -> list[Event]:
        """Return the events before the first request; a second call returns nothing."""
        events, self._before = self._before, []
        return events


class _Paused(NamedTuple):
    """A request that waits until the client answers its recorded question in the next round."""

    exchange: Exchange
    place: int
    """The index of the question among the events of the exchange."""


class _Connection:
    """One connection to a player, which runs in the background loop."""

    def __init__(self, player: Player, end: "ServerEnd", inbox: "Inbox") -> None:
        self._player = player
        self._end = end
        self._inbox = inbox
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._answers: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        # The ids of requests that are held open
        self._streams: list[Any] = []
        # Maps recorded progress tokens to new ones
        self._tokens: dict[str, Any] = {}
        # Whether the client opened the connection with the older protocol
        self._is_older = False
        # The keys are states that the client sends back
        self._paused: dict[str, _Paused] = {}
        self._numbers = count(1)

    async def serve(self) -> None:
        async with anyio.create_task_group() as tasks:
            for event in self._player.take_before():
                await self._repeat_event(event)
            async for message in self._end:
                match message:
                    case {"method": "notifications/cancelled"}:
                        self._cancel(params_of(message).get("requestId"))
                    case {"method": _, "id": _}:
                        tasks.start_soon(self._answer, message)
                    case {"id": identity} if str(identity) in self._answers:
                        answer = self._answers.pop(str(identity))
                        if not answer.done():
                            answer.set_result(message)

    def _cancel(self, identity: Any) -> None:
        scope = self._scopes.get(str(identity))
        if scope is not None:
            scope.cancel()

    async def _answer(self, message: dict[str, Any]) -> None:
        identity = str(message["id"])
        # The client may cancel the request
        with anyio.CancelScope() as scope:
            self._scopes[identity] = scope
            try:
                await self._play(message)
            except RecursionError:
                self._refuse(message, "The recorded answer is nested too deeply to be replayed.")
        self._scopes.pop(identity, None)

    async def _play(self, message: dict[str, Any]) -> None:
        method, params = message["method"], params_of(message)
        if method == "initialize":
            self._is_older = True
        paused = self._paused.pop(str(params.get("requestState")), None)
        if paused is not None:
            await self._resume(paused, message)
            return
        exchange = self._player.matcher.find(method, params)
        if exchange is None:
            self._reply_unknown(message)
            return
        if exchange.is_held_open:
            self._streams.append(message["id"])
        await self._repeat(exchange, message)

    async def _repeat(self, exchange: Exchange, message: dict[str, Any], start: int = 0) -> None:
        """Answer *message* with what *exchange* recorded, beginning at the event *start*."""
        if exchange.is_call:
            meta = mapping_of(params_of(message).get("_meta"))
            self._tokens[str(exchange.token)] = meta.get("progressToken")
        for place, event in enumerate(exchange.events[start:], start):
            if not self._is_older and _is_for_rounds(exchange, event):
                self._pause(_Paused(exchange, place), message)
                return
            problem = await self._repeat_event(event)
            if problem is not None:
                self._refuse(message, problem)
                return
        if (
            self._is_older
            and exchange.is_modern
            and exchange.method in _IN_ROUNDS
            and exchange.asked
        ):
            self._refuse(message, f"A question cannot be asked again here. {_OTHER_ERA}")
            return
        await self._end_of(exchange, message)
        for event in exchange.later:
            await self._repeat_event(event)

    # --- questions that were recorded in the older protocol --------------------------

    def _pause(self, paused: _Paused, message: dict[str, Any]) -> None:
        """Answer *message* with a question, which the recorded server sent as a request."""
        event = paused.exchange.events[paused.place]
        question = without_numbers(event.message)
        recorded = mapping_of(mapping_of(event.answer).get("result"))
        self._player.pending.append((params_of(question).get("message"), recorded))
        state = f"toolbench-replay-{next(self._numbers)}"
        self._paused[state] = paused
        request = {"method": question["method"], "params": question["params"]}
        result = {
            "resultType": "input_required",
            "inputRequests": {_QUESTION: request},
            "requestState": state,
        }
        self._reply(message, result=result)

    async def _resume(self, paused: _Paused, message: dict[str, Any]) -> None:
        """Continue the exchange that `_pause` interrupted; *message* answers the question."""
        exchange, place = paused
        answers = mapping_of(params_of(message).get("inputResponses"))
        answered = {"result": answers.get(_QUESTION)}
        problem = _difference(exchange.events[place], answered)
        if problem is not None:
            self._refuse(message, problem)
            return
        await self._repeat(exchange, message, place + 1)

    # --- the end of a request ---------------------------------------------------------

    async def _end_of(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """End *exchange* as recorded: by an answer, a failure, a closed connection or nothing."""
        failure, response = exchange.failure, exchange.response
        if failure is not None:
            error = _failure_error(str(failure.get("text")), failure.get("asides"))
            self._reply(message, error=error)
        elif response is not None:
            self._player.pending += rounds(exchange)
            response = without_numbers(response)
            self._reply(message, **{k: response[k] for k in ("result", "error") if k in response})
        if exchange.ended:
            self._end.hang_up()
        elif failure is None and response is None:
            await self._leave_open(exchange, message)

    async def _leave_open(self, exchange: Exchange, message: dict[str, Any]) -> None:
        """Answer a request without a recorded response with an error.

        Streams, and cancelled requests that are not tool calls, stay unanswered.
        """
        if exchange.is_held_open or (exchange.cancelled and not exchange.is_call):
            await anyio.sleep_forever()
        reason = CUT_OFF
        if exchange.cancelled:
            reason = CANCELLED
        self._reply(message, error=_failure_error(reason))

    def _reply_unknown(self, message: dict[str, Any]) -> None:
        """Answer a request that was not recorded."""
        method = message["method"]
        if method in _QUIET:
            self._reply(message, result={})
        elif method in HANDSHAKE:
            # The request belongs to the other protocol: the client will try the next one
            text = f"Not recorded: {method}. {_OTHER_ERA}"
            self._reply(message, error={"code": _METHOD_NOT_FOUND, "message": text})
        else:
            self._refuse(message, self._player.matcher.missing(method, params_of(message)))

    def _refuse(self, message: dict[str, Any], problem: str) -> None:
        self._reply(message, error={"code": NOT_RECORDED, "message": problem})

    def _reply(self, message: dict[str, Any], **body: Any) -> None:
        self._end.send({"jsonrpc": "2.0", "id": message["id"], **body})

    # --- events: what the server sent on its own -------------------------------------

    async def _repeat_event(self, event: Event) -> str | None:
        """Repeat *event*; if the client answers differently than recorded, return the problem."""
        match event.kind:
            case "stderr":
                self._inbox.stderr.add(str(without_numbers(event.message)))
            case "noise":
                self._inbox.note_noise(str(without_numbers(event.message)))
            case "notification":
                self._notify(event)
            case "request":
                return await self._ask(event)
        return None

    def _notify(self, event: Event) -> None:
        notification = without_numbers(event.message)
        params = params_of(notification)
        if "progressToken" in params:
            token = self._tokens.get(str(params["progressToken"]))
            if token is None:
                # The call of this progress was not replayed
                return
            notification = {**notification, "params": {**params, "progressToken": token}}
        if subscription_of(notification) is None:
            self._end.send(notification)
        elif self._streams:
            self._end.send(with_subscription(notification, self._streams[-1]))

    async def _ask(self, event: Event) -> str | None:
        question = without_numbers(event.message)
        answer = asyncio.get_running_loop().create_future()
        self._answers[str(question.get("id"))] = answer
        recorded = mapping_of(event.answer).get("result")
        is_for_people = question.get("method") in FOR_PEOPLE
        if isinstance(recorded, Mapping) and is_for_people:
            self._player.pending.append((params_of(question).get("message"), recorded))
        self._end.send(question)
        if event.answer is None or not is_for_people:
            # There is no recorded answer, or the client answers automatically (roots)
            return None
        return _difference(event, await answer)


def _is_for_rounds(exchange: Exchange, event: Event) -> bool:
    """Tell whether *event* is a question that the newer protocol would send as an answer."""
    question = mapping_of(event.message)
    return (
        event.kind == "request"
        and exchange.method in _IN_ROUNDS
        and not exchange.is_modern
        and question.get("method") in FOR_PEOPLE
        and "params" in question
        and isinstance(mapping_of(event.answer).get("result"), Mapping)
    )


def rounds(exchange: Exchange) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield each question in the response of *exchange*, with the client's recorded answer."""
    for request, answer in exchange.questions():
        yield without_numbers(params_of(request).get("message")), answer


def _as_answer(answer: Mapping[str, Any]) -> Answer:
    # A message that was written in place of a model
    if "role" in answer:
        return Answer("accept", dict(answer))
    action, content = answer.get("action", "decline"), answer.get("content")
    if isinstance(content, Mapping):
        return Answer(action, dict(content))
    return Answer(action)


def _difference(event: Event, answered: Mapping[str, Any]) -> str | None:
    """Return how the client's answer differs from the recorded one; None if they match."""
    recorded = {"result": mapping_of(event.answer).get("result")}
    now = {"result": answered.get("result")}
    matcher = Matcher([Exchange({"method": "answer", "params": recorded})])
    if matcher.find("answer", now) is not None:
        return None
    reason = matcher.missing("answer", now)
    return f"The server's question got another answer than in the recording. {reason}"


def recorded_answerer(entry: ServerEntry) -> Answerer | None:
    """Return a handler of questions that repeats recorded answers; None without a replay.

    Preset answers, given with `toolbench.answering(...)`, take precedence over recorded ones.
    """
    player = entry.server
    if not isinstance(player, Player):
        return None

    def answer_of(question: Question) -> Answer:
        # Removes the recorded answer even if it is not used
        recorded = player.recorded_answer(question)
        if not hasattr(question, "messages") and preset_here(for_person(question)) is not None:
            return ask_here(question)
        return recorded

    return answer_of
