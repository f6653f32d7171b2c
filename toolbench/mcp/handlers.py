"""What a server may ask back while it works, and who answers.

An *answerer* is one callable, plain or `async`, that takes a question and returns its answer.
Whoever shows forms gives one; where nobody can answer, the answer is no.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Literal

Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Something *server* wants to know before it goes on."""

    server: str
    message: str
    tool: str | None = None
    """The tool whose call led to the question, if one is under way."""
    round: int = 1
    """Which round of questions of that call this is."""


@dataclass(frozen=True, kw_only=True)
class FormQuestion(Question):
    """A form to fill in. Source: MCP, elicitation in form mode."""

    schema: Mapping[str, Any]
    """The JSON Schema of the answer."""


@dataclass(frozen=True, kw_only=True)
class UrlQuestion(Question):
    """A page to visit; accept when that is done. Never open it unasked.

    Source: MCP, elicitation in URL mode.
    """

    url: str

    @property
    def is_safe(self) -> bool:
        """Whether the URL is one a browser should be sent to."""
        return self.url.lower().startswith(("https://", "http://"))


@dataclass(frozen=True, kw_only=True)
class SamplingQuestion(Question):
    """A message a model should write, or a person in its place. Source: MCP, sampling."""

    messages: list[dict[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)
    """The rest of the request: `systemPrompt`, `maxTokens`, ..."""


@dataclass(frozen=True)
class Answer:
    """What the server is told."""

    action: Action
    content: Any = None
    """With `accept`: the values of the form, or the text of the sampled message."""


Answerer = Callable[[Question], Any]
"""Takes a question, returns an `Answer`, a dict or str (accept), or None (decline)."""

OnProgress = Callable[[float, float | None, str | None], None]
"""Is told the value, the total if known, and a message if there is one."""

_answerer: ContextVar[Answerer | None] = ContextVar("answerer", default=None)
_on_progress: ContextVar[OnProgress | None] = ContextVar("on_progress", default=None)


@contextmanager
def answering(answerer: Answerer) -> Iterator[None]:
    """Let *answerer* answer what servers ask during the calls made in this `with`.

    It runs in a worker thread if it is a plain function, so it may block.
    """
    token = _answerer.set(answerer)
    try:
        yield
    finally:
        _answerer.reset(token)


@contextmanager
def reporting(on_progress: OnProgress) -> Iterator[None]:
    """Let *on_progress* hear of the progress of the calls made in this `with`.

    It is called in the background loop: it must return at once.
    """
    token = _on_progress.set(on_progress)
    try:
        yield
    finally:
        _on_progress.reset(token)


def current_answerer() -> Answerer | None:
    """Return who answers questions here, if anybody was named."""
    return _answerer.get()


def current_on_progress() -> OnProgress | None:
    """Return who is told of progress here, if anybody was named."""
    return _on_progress.get()


def preset(*answers: Any) -> Answerer:
    """Return an answerer that gives *answers* one after the other, then declines."""
    waiting = list(answers)
    return lambda question: waiting.pop(0) if waiting else None


async def answer_of(answerer: Answerer | None, question: Question) -> Answer:
    """Put *question* to *answerer* and return what it says; nobody there declines."""
    if answerer is None:
        return Answer("decline")
    if iscoroutinefunction(answerer):
        given = await answerer(question)
    else:
        from anyio.to_thread import (  # noqa: PLC0415 - only once a server asks
            run_sync,
        )

        given = await run_sync(answerer, question, abandon_on_cancel=True)
        if isawaitable(given):
            given = await _awaited(given)
    if isinstance(given, Answer):
        return given
    return Answer("decline") if given is None else Answer("accept", given)


async def _awaited(given: Awaitable[Any]) -> Any:
    return await given
