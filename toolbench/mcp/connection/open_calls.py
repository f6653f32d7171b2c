"""The requests that are running: their time limits, their progress, and who answers questions."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

import anyio

from toolbench.mcp.elicitation import Answerer, OnProgress


class CallTimeoutError(TimeoutError):
    """The server did not answer in time; the call was cancelled at the server."""


@dataclass(frozen=True)
class HttpFailure:
    """An HTTP answer with the status of an error, or a page for people."""

    status: int
    reason: str
    body: str
    """The first characters of the body, or of the message if the body is an MCP error."""
    is_answer: bool = False
    """Whether the body is an MCP error: the server itself answered."""
    hint: str = ""
    """Advice for a person; empty if there is none."""

    def __str__(self) -> str:
        body = " ".join(self.body.split())
        return f"HTTP {self.status} {self.reason}".rstrip() + (f": {body}" if body else "")


@dataclass(eq=False)
class Call:
    """One request to a server, from its start to its answer."""

    seconds: float
    """Time limit for the server, in seconds; waiting for a person does not count."""
    used: float = 0.0
    """The seconds of the limit that earlier requests have used, as those of one connection do."""
    tool: str | None = None
    on_progress: OnProgress | None = None
    answerer: Answerer | None = None
    token: str = ""
    http_failure: HttpFailure | None = None
    round: int = 1
    before_sending: Callable[[], Awaitable[None]] | None = None
    """Awaited on the connection that is used, right before the request; may refuse it by an error."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """What the request repeats for the server: answers to its questions, and its own state."""
    noise: str = ""
    """The first line during the call that was no message; empty if all were messages."""
    stderr_since: int = 0
    """The number of lines that the server had written to stderr before the request was sent."""
    on_close: Callable[[], object] = lambda: None
    """A function for the background loop: called when the user disconnects the server."""
    context: Context = field(default_factory=copy_context, repr=False)
    """The context of the caller, in which the questions of the server are answered."""
    waited: float = 0.0
    """The seconds in which the call waited for a person."""
    _scopes: list[anyio.CancelScope] = field(default_factory=list, repr=False)
    _waiting: int = 0
    _asked: float = 0.0
    _paused: list[tuple[anyio.CancelScope, float]] = field(default_factory=list, repr=False)
    """The paused time limits, each with the seconds that were left."""

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Run the `with` block under the time limit, and let `current_call` return this call in it.

        Raises:
            CallTimeoutError: If the time is up.
        """
        with self.within(self.seconds, used=self.used):
            token = _current.set(self)
            try:
                yield
            finally:
                _current.reset(token)

    @contextmanager
    def within(self, seconds: float, *, used: float = 0.0) -> Iterator[None]:
        """Run the `with` block for at most *seconds*; the limit pauses during a wait for a person.

        The seconds in *used* are over already.

        Raises:
            CallTimeoutError: If the time is up.
        """
        deadline = anyio.current_time() + seconds - used
        with anyio.CancelScope(deadline=deadline) as scope:
            self._scopes.append(scope)
            try:
                yield
            finally:
                self._scopes.remove(scope)
        if scope.cancelled_caught:
            msg = f"no answer within {seconds:.3g} s"
            raise CallTimeoutError(msg)

    @property
    def is_waiting(self) -> bool:
        """Whether the call waits for a person; then its time limits are paused."""
        return self._waiting > 0

    @asynccontextmanager
    async def waiting_for_person(self) -> AsyncIterator[None]:
        """Pause the time limits while a question waits for its answer."""
        self._waiting += 1
        if self._waiting == 1:
            now = self._asked = anyio.current_time()
            self._paused = [(scope, scope.deadline - now) for scope in self._scopes]
            for scope in self._scopes:
                scope.deadline = inf
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self.waited += anyio.current_time() - self._asked
                for scope, left in self._paused:
                    scope.deadline = anyio.current_time() + left


class WaitingCalls:
    """Calls that wait for the same answer of a person."""

    def __init__(self) -> None:
        """Make an empty collection of calls."""
        self._calls: list[Call] = []
        self._pauses: AsyncExitStack | None = None
        """The pauses of the calls, while the person is asked."""

    @asynccontextmanager
    async def including(self, call: Call | None) -> AsyncIterator[None]:
        """Let *call* wait together with the other calls during the `async with`; None does nothing."""
        if call is None:
            yield
            return
        self._calls.append(call)
        if self._pauses is not None:
            await self._pauses.enter_async_context(call.waiting_for_person())
        try:
            yield
        finally:
            self._calls.remove(call)

    @asynccontextmanager
    async def waiting_for_person(self) -> AsyncIterator[None]:
        """Pause the time limits of all calls, also of later ones, while a person is asked."""
        async with AsyncExitStack() as pauses:
            for call in self._calls:
                await pauses.enter_async_context(call.waiting_for_person())
            self._pauses = pauses
            try:
                yield
            finally:
                self._pauses = None


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def current_call() -> Call | None:
    """Return the call for which this code runs; None if it is not known."""
    return _current.get()


class OpenCalls:
    """The running calls of one connection, oldest first."""

    def __init__(self) -> None:
        """Make an empty collection of calls."""
        self._calls: dict[str, Call] = {}
        self._ids = count(1)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls.values()))

    @contextmanager
    def enter(self, call: Call) -> Iterator[Call]:
        """Add *call* during the `with`, under a new token. Progress messages name the token."""
        call.token = f"toolbench-{next(self._ids)}"
        self._calls[call.token] = call
        try:
            yield call
        finally:
            del self._calls[call.token]

    @contextmanager
    def reopen(self, call: Call) -> Iterator[None]:
        """Add *call* again during the `with`, under its old token, although it was answered already.

        Progress messages with the token can then still find the call.
        """
        self._calls[call.token] = call
        try:
            yield
        finally:
            self._calls.pop(call.token, None)

    def of_token(self, token: object) -> Call | None:
        """Return the running call with *token*; None if there is no such call."""
        return self._calls.get(str(token))

    def asking(self) -> list[Call]:
        """Return the running calls for which the server may ask its question, the likeliest first.

        In the older protocol a question names no call: then these are all calls, those of tools
        first, since a list may be read anew meanwhile, and of them the latest.
        """
        call = current_call()
        # in the older protocol this is the call that connected, which has ended
        if call is not None and call.token in self._calls:
            return [call]
        latest_first = reversed(self._calls.values())
        return sorted(latest_first, key=lambda call: call.tool is None)
