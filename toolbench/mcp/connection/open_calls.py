"""A running request: its time limit, its progress, and the handler of its questions."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from math import inf

import anyio

from toolbench.mcp.elicitation import Answerer, OnProgress


class CallTimeoutError(TimeoutError):
    """The server did not answer in time; the call was cancelled at the server."""


@dataclass(frozen=True)
class HttpFailure:
    """An HTTP answer that is not an MCP message."""

    status: int
    reason: str
    body: str
    """The first characters of the body."""

    def __str__(self) -> str:
        body = " ".join(self.body.split())
        return f"HTTP {self.status} {self.reason}".rstrip() + (
            f": {body}" if body else ""
        )


@dataclass(eq=False)
class Call:
    """One request to a server, from its start to its answer."""

    seconds: float
    """Time limit for the server, in seconds; waiting for a person does not count."""
    tool: str | None = None
    on_progress: OnProgress | None = None
    answerer: Answerer | None = None
    token: str = ""
    http_failure: HttpFailure | None = None
    round: int = 1
    _scope: anyio.CancelScope | None = field(default=None, repr=False)
    _waiting: int = 0
    _left: float = 0.0

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Run the `with` block under the time limit.

        Raises:
            CallTimeoutError: If the time is up.
        """
        deadline = anyio.current_time() + self.seconds
        with anyio.CancelScope(deadline=deadline) as self._scope:
            token = _current.set(self)
            try:
                yield
            finally:
                _current.reset(token)
        if self._scope.cancelled_caught:
            msg = f"no answer within {self.seconds:.3g} s"
            raise CallTimeoutError(msg)

    @asynccontextmanager
    async def waiting_for_person(self) -> AsyncIterator[None]:
        """Stop the time limit while a question waits for its answer."""
        scope, self._waiting = self._scope, self._waiting + 1
        if scope is not None and self._waiting == 1:
            self._left = scope.deadline - anyio.current_time()
            scope.deadline = inf
        try:
            yield
        finally:
            self._waiting -= 1
            if scope is not None and not self._waiting:
                scope.deadline = anyio.current_time() + self._left


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def current_call() -> Call | None:
    """Return the call that this code runs for, if it is known."""
    return _current.get()


class OpenCalls:
    """The running calls of one connection, oldest first."""

    def __init__(self) -> None:
        """Start with none."""
        self._calls: dict[str, Call] = {}
        self._ids = count(1)

    def __iter__(self) -> Iterator[Call]:
        return iter(list(self._calls.values()))

    @contextmanager
    def enter(self, call: Call) -> Iterator[Call]:
        """Add *call* during the `with`, under a new token, by which progress finds it."""
        call.token = f"toolbench-{next(self._ids)}"
        self._calls[call.token] = call
        try:
            yield call
        finally:
            del self._calls[call.token]

    def of_token(self, token: object) -> Call | None:
        """Return the call of *token*, or None."""
        return self._calls.get(str(token))

    def asking(self) -> Call | None:
        """Return the call that a question of the server is most likely about.

        In the older protocol a question names no call: this assumes the latest one.
        """
        call = (
            current_call()
        )  # in the older protocol: the one that connected, long done
        known = call is not None and call.token in self._calls
        return call if known else next(reversed(self._calls.values()), None)
