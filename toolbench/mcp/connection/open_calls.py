"""The running requests, with their time limits, progress and handlers of questions."""

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
    """An HTTP answer that has an error status, or is a web page instead of an MCP message."""

    status: int
    reason: str
    body: str
    """The beginning of the body; if the body is an MCP error, the beginning of its message."""
    is_answer: bool = False
    """Whether the body is an MCP error, so the server itself answered."""
    hint: str = ""
    """Advice for the user; empty if there is none."""

    def __str__(self) -> str:
        body = " ".join(self.body.split())
        return f"HTTP {self.status} {self.reason}".rstrip() + (f": {body}" if body else "")


@dataclass(eq=False)
class Call:
    """One request to a server, from its start to its answer."""

    seconds: float
    """The server's time limit in seconds; time in which the user is asked does not count."""
    used: float = 0.0
    """The seconds of the limit that earlier requests used, for requests that share one limit."""
    tool: str | None = None
    on_progress: OnProgress | None = None
    answerer: Answerer | None = None
    token: str = ""
    http_failure: HttpFailure | None = None
    round: int = 1
    before_sending: Callable[[], Awaitable[None]] | None = None
    """Awaited after connecting, just before the request is sent; after an error, it is not sent."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Parameters to add when the request is repeated: answers to the server, and its state."""
    noise: str = ""
    """The first line received during the call that was not a message; empty if there was none."""
    stderr_since: int = 0
    """The number of lines that the server had written to stderr before the request was sent."""
    on_close: Callable[[], object] = lambda: None
    """Called in the background loop when the user disconnects the server."""
    context: Context = field(default_factory=copy_context, repr=False)
    """The context of the caller, in which the questions of the server are answered."""
    waited: float = 0.0
    """The seconds for which the call waited for the user."""
    _scopes: list[anyio.CancelScope] = field(default_factory=list, repr=False)
    _waiting: int = 0
    _asked: float = 0.0
    _paused: list[tuple[anyio.CancelScope, float]] = field(default_factory=list, repr=False)
    """The paused time limits, each with its remaining seconds."""

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Run the `with` block within the time limit; in it, `current_call` returns this call.

        Raises:
            CallTimeoutError: If the time limit is over.
        """
        with self.within(self.seconds, used=self.used):
            token = _current.set(self)
            try:
                yield
            finally:
                _current.reset(token)

    @contextmanager
    def within(self, seconds: float, *, used: float = 0.0) -> Iterator[None]:
        """Limit the `with` block to *seconds*, minus the *used* seconds that have already passed.

        The time during which the user is asked a question does not count.

        Raises:
            CallTimeoutError: If the block takes longer.
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
        """Whether the call is waiting for the user, which pauses its time limits."""
        return self._waiting > 0

    @asynccontextmanager
    async def waiting_for_person(self) -> AsyncIterator[None]:
        """Pause the time limits during the `async with` block, while the user is asked."""
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
    """Calls that wait for the same answer from the user."""

    def __init__(self) -> None:
        """Create an empty collection of calls."""
        self._calls: list[Call] = []
        self._pauses: AsyncExitStack | None = None
        """The pauses of the calls' time limits while the user is asked; else None."""

    @asynccontextmanager
    async def including(self, call: Call | None) -> AsyncIterator[None]:
        """Add *call* to the waiting calls during the `async with` block, unless it is None."""
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
        """Pause the time limits of all calls during the block, and of calls added in it."""
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
    """Return the call on whose behalf this code is running; None if unknown."""
    return _current.get()


class OpenCalls:
    """The running calls of one connection, oldest first."""

    def __init__(self) -> None:
        """Create an empty collection of calls."""
        self._calls: dict[str, Call] = {}
        self._ids = count(1)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls.values()))

    @contextmanager
    def enter(self, call: Call) -> Iterator[Call]:
        """Add *call* under a new token, used in progress messages, during the `with` block."""
        call.token = f"toolbench-{next(self._ids)}"
        self._calls[call.token] = call
        try:
            yield call
        finally:
            del self._calls[call.token]

    @contextmanager
    def reopen(self, call: Call) -> Iterator[None]:
        """Treat *call*, which has been answered, as running again during the `with` block.

        This way, *call* receives the progress messages that the server sends with its token.
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
        """Return the running calls that may have caused the server's question, most likely first.

        In the older protocol (MCP 2025-11-25 and before), a question does not say which call caused
        it. All running calls are then returned. Tool calls come before requests for lists, and
        later calls come before earlier calls.
        """
        call = current_call()
        # In the older protocol this is the call that connected, which has ended
        if call is not None and call.token in self._calls:
            return [call]
        latest_first = reversed(self._calls.values())
        return sorted(latest_first, key=lambda call: call.tool is None)
