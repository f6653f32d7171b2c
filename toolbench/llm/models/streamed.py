"""The base class of models with streamed answers: requests, chunks, retries and errors."""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from toolbench.errors import BodyError, ModelError, ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.message import Provider
from toolbench.llm.models.faults import TRIES, BrokenOffError, fault_of, printable
from toolbench.llm.models.inbox import Request, StoppedError, pause, received
from toolbench.llm.models.model import (
    Answer,
    Chunk,
    Messages,
    OfferedTools,
    OnChunk,
    Price,
    as_answer,
    not_cancelled,
    numbered,
    offered,
    report,
    stopped,
)
from toolbench.llm.read import stream_of
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import Stream, plain
from toolbench.redaction.known import Secrets
from toolbench.runs.control import Cancellable
from toolbench.values import clip, whole_characters
from toolbench.wording import counted

DONE = object()
"""A chunk that marks the answer as complete, even if no reason for its end was given."""


class StreamedModel:
    """The base class of models that send requests to a provider; subclasses define `_request`.

    Args:
        name: The display name of the model.
        provider: The provider whose message format the model uses.
        model: The provider's name for the model.
        place: The host that error messages name.
        secrets: The secrets of the model, such as its key, by name.
        options: Fields sent with every request, such as `temperature`.
        price: The price of tokens.
        written_calls: Whether to read calls that the model writes into its text.
    """

    def __init__(
        self,
        name: str,
        provider: Provider,
        model: str,
        *,
        place: str,
        secrets: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        price: Price | None = None,
        written_calls: bool = False,
    ) -> None:
        self.written_calls = written_calls
        """Whether calls in the model's text are read as calls."""
        self.name, self.provider, self.model = name, provider, model
        self._wire = WIRES[provider]
        self.secrets = Secrets({k: v for k, v in (secrets or {}).items() if v})
        """The secrets, such as the key; code that shows or saves requests and errors masks them."""
        self._place = place
        self.price = price
        """The price of a million tokens, if given."""
        self._options = dict(options or {})
        self._after_stop = ""
        """What a stop cannot end immediately, worded as the end of a sentence."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} ({self.provider}) at {self._place}>"

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the next message of the conversation, like `Model.complete`.

        If the server is busy (status 429 or 503), the request is retried after the delay that the
        server asks for. A request is sent at most four times, and *on_chunk* gets a note before
        each retry. If the connection fails in the middle of an answer, the request is not retried.
        The attribute `answer` of the error that is raised contains the part that arrived.
        """
        cancel = not_cancelled(cancel, self.name)
        self._prepare(cancel)
        body = self._body(messages, offered(tools, self.provider))
        answer = numbered(self.ask(body, on_chunk, cancel), len(messages))
        if self.price is not None:
            answer = self.price.priced(answer)
        return answer

    def ask(self, body: Json, on_chunk: OnChunk | None, cancel: Cancellable) -> Answer:
        """Return the answer to *body*, a whole request; retries and errors are as in `complete`."""
        # Half a character, as in an odd file name, would make all later requests fail too
        body = whole_characters(body)
        tries = 0
        while True:
            tries += 1
            so_far = _AnswerSoFar(self.provider)
            # `on_chunk` is called outside the request, so that its errors do not count as failures
            with closing(self._pieces(body, tries, so_far, cancel)) as pieces:
                for piece in pieces:
                    if on_chunk is not None:
                        on_chunk(piece)
            if so_far.answer is not None:
                return so_far.answer

    def _prepare(self, cancel: Cancellable) -> None:
        """Do whatever is needed before a request is sent; *cancel* may stop it."""

    def _body(self, messages: Messages, tools: Sequence[Json]) -> Json:
        conversation = [self._wire.read(message) for message in messages]
        return self._wire.request(self.model, conversation, tools, self._options)

    def _request(self, body: Json) -> Request:
        raise NotImplementedError

    def _pieces(
        self, body: Json, tries: int, so_far: "_AnswerSoFar", cancel: Cancellable
    ) -> Generator[Chunk, None, None]:
        """Send *body*, and yield the pieces of the answer, which *so_far* collects.

        If the request fails and can be retried, yield a note, and wait until the next try.
        """
        try:
            for chunk in received(self._request(body), cancel):
                yield from so_far.add(chunk)
            so_far.end()
            return
        except StoppedError:
            raise self._stopped(so_far, self._after_stop) from None
        except Exception as error:  # noqa: BLE001 - a provider's package may raise any error
            failure = error
        # Outside `except`: the error's context would keep the provider's message, and the key
        if isinstance(failure, ValueError) and (reason := _why_unwritable(body)):
            msg = f"The request to {self.name} cannot be written as JSON: {reason}."
            raise ModelError(self.secrets.redactor.sentence(msg))
        seconds, reason = self._again(failure, tries, so_far)
        wait = counted(round(seconds), "second")
        yield Chunk("retry", f"{reason.rstrip('.')}. Try {tries + 1} of {TRIES} in {wait}.")
        try:
            pause(seconds, cancel)
        except StoppedError:
            raise self._stopped(so_far) from None

    def _again(self, error: Exception, tries: int, so_far: "_AnswerSoFar") -> tuple[float, str]:
        """Return the seconds until the next try, and the reason; raise an error if none is left."""
        if isinstance(error, ModelError):
            masked = type(error)(printable(self.secrets.redactor.sentence(str(error))))
            masked.answer = so_far.partial()
            raise masked from None
        fault = fault_of(error, self._place, self.secrets.redactor)
        if fault is None:
            raise error
        seconds = None
        if not so_far.has_begun:
            seconds = fault.wait(tries)
        if seconds is None:
            failure = fault.error(tries)
            failure.answer = so_far.partial()
            raise failure from None
        return seconds, fault.reason

    def _stopped(self, so_far: "_AnswerSoFar", after: str = "") -> ModelStoppedError:
        error = stopped(self.name, after)
        error.answer = so_far.partial()
        return error


class _AnswerSoFar:
    """Collects an answer that arrives in chunks."""

    def __init__(self, provider: Provider) -> None:
        self.answer: Answer | None = None
        """The whole answer; None until it is complete."""
        self.has_begun = False
        self._provider = provider
        self._stream: Stream | None = None
        self._is_done = False

    def add(self, chunk: Any) -> Iterator[Chunk]:
        """Add the next chunk of the stream, and yield the pieces of the answer in this chunk.

        Args:
            chunk: A dict, or an object of the provider's package.

        Raises:
            ModelError: If the chunk reports an error of the provider.
            BodyError: If the chunk cannot be read.
        """
        if chunk is DONE:
            self._is_done = True
            return
        data = plain(chunk)
        if not isinstance(data, Mapping):
            msg = f"a chunk that is not an object but {type(data).__name__}"
            raise BodyError(msg)
        _refuse_failure(data)
        try:
            yield from self._add(data)
        except (AttributeError, LookupError, TypeError, BodyError) as error:
            # A server may send anything, so any part may be missing or wrong
            msg = f"it is not the answer of a model: {clip(data, 200)}"
            raise BodyError(msg) from error

    def _add(self, data: Mapping[str, Any]) -> Iterator[Chunk]:
        # From a server that does not stream
        if any(wire.is_whole(data) for wire in WIRES.values()):
            self.answer = as_answer(dict(data), self._provider)
            pieces: list[Chunk] = []
            report(self.answer, pieces.append)
            yield from pieces
            return
        if self._stream is None:
            self._stream = stream_of(data, self._provider)
        for piece in self._stream.add(data):
            if not isinstance(piece.text, str):
                raise TypeError
            self.has_begun = True
            yield piece

    def end(self) -> None:
        """Read the answer after its last chunk.

        Raises:
            BrokenOffError: If the answer is not complete.
        """
        if self.answer is not None:
            return
        response: Json = {"choices": []}
        if self._stream is not None:
            response = self._stream.response
            self._is_done = self._is_done or self._stream.has_end
        if not self._is_done:
            raise BrokenOffError
        self.answer = as_answer(response, self._provider)

    def partial(self) -> Answer | None:
        """Return the part of the answer that has arrived; None if no part has arrived."""
        if not self.has_begun or self._stream is None:
            return None
        try:
            answer = as_answer(self._stream.response, self._provider)
        except (ModelError, BodyError):
            # The response reports a failure of the provider
            return None
        return Answer(answer.message, "broken off", answer.usage, answer.response_id)


def _why_unwritable(body: Json) -> str | None:
    """Return why *body* cannot be sent as a request; None if it can."""
    try:
        json.dumps(body, allow_nan=False, default=str)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def _refuse_failure(data: Mapping[str, Any]) -> None:
    """Raise an error if *data*, a chunk in the middle of a stream, reports a failure.

    Raises:
        ModelError: The error that *data* reports.
    """
    error = data.get("error")
    kind = data.get("type")
    if kind == "error" or (error and not kind):
        message = error or data
        if isinstance(error, Mapping):
            message = error.get("message") or data.get("message") or error
        msg = f"The model's provider broke off the answer: {message}"
        raise ModelError(msg)
