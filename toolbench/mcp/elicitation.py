"""Questions that a server asks during a call (elicitation, sampling), and their handlers.

An *answerer* is a function, plain or `async`, that takes a question and returns its answer. Without
an answerer, the user is asked. If there is no user to ask, the question is declined.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import iscoroutinefunction
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa
from typing import Any, TypeVar
from urllib.parse import urlsplit

from toolbench.core.background_loop import portal
from toolbench.display.escape import safe_address
from toolbench.errors import ServerError
from toolbench.mcp.sampling import (
    answer_schema,
    conversation_text,
    tools_in,
)
from toolbench.runs.current_run import active_run
from toolbench.runs.dialogue import Desk, answer_here
from toolbench.runs.questions import Answer
from toolbench.runs.questions import Question as Asked
from toolbench.runs.run import Run

__all__ = [
    "Answer",
    "Answerer",
    "FormQuestion",
    "OnProgress",
    "Question",
    "SamplingQuestion",
    "UrlQuestion",
    "answering",
    "ask_here",
    "current_answerer",
    "current_on_progress",
    "for_person",
    "reporting",
]

_NEEDS_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that a server asks; the server waits for the answer."""

    server: str
    message: str
    tool: str | None = None
    """The tool whose call caused the question; None if no call is running."""
    round: int = 1
    """The number of the question within its call, from 1."""
    is_for_person: bool = False
    """Whether the user is asked in spite of preset answers, as several calls may be the cause."""

    @property
    def whole(self) -> str:
        """The message, with the name of the server."""
        return f"Server {self.server!r} asks: {self.message}"


@dataclass(frozen=True, kw_only=True)
class FormQuestion(Question):
    """A question with a form to fill in. Source: MCP, elicitation in form mode."""

    schema: Mapping[str, Any]
    """The JSON Schema of the answer."""


@dataclass(frozen=True, kw_only=True)
class UrlQuestion(Question):
    """A server's request that the user visit a web page.

    Always ask the user before you open the page. Accept the request only if the user has agreed to
    visit the page. Source: MCP, elicitation in URL mode.
    """

    url: str

    @property
    def is_safe(self) -> bool:
        """Whether a browser may open the URL, which must be http(s) with a plainly visible host."""
        try:
            parts = urlsplit(self.url)
            is_page = parts.scheme in ("https", "http") and bool(parts.hostname)
        except ValueError:
            return False
        return is_page and "@" not in parts.netloc and safe_address(self.url) is not None

    @property
    def whole(self) -> str:
        """The message, with the name of the server, the URL and advice."""
        advice = "Do not open it."
        if self.is_safe:
            host = urlsplit(self.url).hostname or ""
            advice = _warning(host) or "Visit it yourself, then confirm."
        # Shown on one line
        if self.url.isprintable():
            url = self.url
        else:
            url = repr(self.url)
        return f"{super().whole}\nThe page: {url}\n{advice}"


@dataclass(frozen=True, kw_only=True)
class SamplingQuestion(Question):
    """A request for a message from a model; the user can write it. Source: MCP, sampling."""

    messages: list[dict[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)
    """The rest of the request: `systemPrompt`, `maxTokens`, `toolChoice`, ..."""

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the model may call, as the server described them.

        To call one tool, answer with `{"tool": name, "arguments": {...}}`; to call several, answer
        with a list of such dicts. The server runs the tools, and sends the results in the messages
        of its next question.
        """
        return tools_in(self.params)

    @property
    def whole(self) -> str:
        """The message, the name of the server, the earlier conversation, and the tools."""
        conversation = conversation_text(self.messages, self.params)
        return "\n".join(filter(None, [super().whole, conversation]))


def _warning(host: str) -> str:
    """Return a warning if *host* may imitate another host, or is local; "" for most hosts."""
    try:
        if not host.isascii():
            written = host.encode("idna").decode()
        else:
            written = host
    except UnicodeError:
        return "Do not open it: its host is not a valid host name."
    if "xn--" in written:
        return (
            f"Its host is {written}, written in letters that can look like others: visit it only if "
            "you know this host, then confirm."
        )
    near = _nearness(written.rstrip("."))
    return near and f"It leads to {near}: visit it only if you expect a page there, then confirm."


def _nearness(host: str) -> str:
    """Describe where *host* is if it is in a local network or on this machine; else return ""."""
    if host == "localhost" or host.endswith(".localhost"):
        return "this machine"
    try:
        # Like browsers, accept 127.1 and 2130706433
        if ":" in host:
            address = ip_address(host)
        else:
            address = ip_address(inet_ntoa(inet_aton(host)))
    except (OSError, ValueError):
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback or address.is_unspecified:
        return "this machine"
    if address.is_global:
        return ""
    return f"a private network ({address})"


Answerer = Callable[[Any], Any]
"""A function from a question to an `Answer`, a dict or a string, or None to decline."""

OnProgress = Callable[[float, float | None, str], None]
"""A function of the value, the total (None if unknown) and a message, which may be empty."""

current_answerer: ContextVar[Answerer | None] = ContextVar("current_answerer", default=None)
"""The answerer of the innermost `answering` block; None outside such a block."""
current_on_progress: ContextVar[OnProgress | None] = ContextVar("current_on_progress", default=None)
"""The function of the innermost `reporting` block; None outside such a block."""


@contextmanager
def answering(answerer: Answerer) -> Iterator[None]:
    """Use *answerer* to answer the questions that servers ask during the `with` block.

    If *answerer* is a plain function, it runs in the thread that made the call, so it may block.
    """
    token = current_answerer.set(answerer)
    try:
        yield
    finally:
        current_answerer.reset(token)


@contextmanager
def reporting(on_progress: OnProgress) -> Iterator[None]:
    """Call *on_progress* with the progress of calls in the `with` block.

    *on_progress* is called in the background loop, so it must not block.
    """
    token = current_on_progress.set(on_progress)
    try:
        yield
    finally:
        current_on_progress.reset(token)


def for_person(question: Question) -> Asked:
    """Convert *question* of a server to the form in which a run asks the user."""
    asked = Asked.about(question.whole, None, "")
    if isinstance(question, FormQuestion):
        asked = Asked.about(question.whole, question.schema or _NEEDS_NOTHING, "")
    if isinstance(question, SamplingQuestion):
        answer = {"answer": answer_schema(question.params)}
        schema = {"type": "object", "properties": answer, "required": ["answer"]}
        asked = Asked(question.whole, schema, bare=True)
    if isinstance(question, UrlQuestion):
        url = question.url
    else:
        url = ""
    return replace(asked, url=url, server=question.server, is_for_person=question.is_for_person)


def ask_here(question: Question) -> Answer:
    """Ask the user in the panel of the run; without a run, use a preset answer or `input()`."""
    person_question, run = for_person(question), active_run()
    if isinstance(run, Run):
        return run.dialogue.put(person_question)
    if run is not None:
        return run.ask(person_question.message, person_question.schema)
    return answer_here(person_question)


async def answer_of(answerer: Answerer, question: Question) -> Answer:
    """Ask *answerer* the *question* and return its answer.

    A plain function runs in a thread, so that it may block.
    """
    if iscoroutinefunction(answerer):
        return as_answer(await answerer(question))
    from anyio.to_thread import run_sync  # noqa: PLC0415 - only once a server asks

    return as_answer(await run_sync(answerer, question, abandon_on_cancel=True))


def as_answer(reply: Any) -> Answer:
    """Convert *reply*, the result of an answerer, to an `Answer`; None declines."""
    if reply is None:
        return Answer("decline")
    if isinstance(reply, Answer):
        return reply
    return Answer("accept", reply if isinstance(reply, Mapping) else {"answer": reply})


T = TypeVar("T")


def wait_answering(
    ask: Callable[..., Coroutine[Any, Any, T]], *args: Any, answerer: Answerer | None
) -> T:
    """Run `ask(*args, answerer=...)` in the background loop, wait, and return its result.

    Questions that the server asks during the request are answered by the function that `answering`
    has set, or else by *answerer*. If both are missing, the user answers. A function that is not
    `async` runs in the calling thread.

    Raises:
        ServerError: If the request was cancelled.
        ToolbenchError: If called from the background loop itself.
    """
    handler, run = current_answerer.get() or answerer or ask_here, active_run()
    draw = None
    if isinstance(run, Run):
        draw = run.progress_view.drawer
    desk = Desk(handler, draw)
    async_handler: Answerer = desk.ask
    if iscoroutinefunction(handler):
        async_handler = handler
    try:
        return desk.serve_until(partial(ask, *args, answerer=async_handler), portal.loop)
    except asyncio.CancelledError as error:
        msg = "The request was cancelled, also at the server."
        raise ServerError(msg) from error
