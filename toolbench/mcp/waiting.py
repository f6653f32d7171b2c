"""Wait for a call in the thread that made it, and answer there what the server asks meanwhile.

`input()` works in no other thread than the main one, and a run knows its own.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from toolbench.core.portal import portal
from toolbench.errors import ServerError
from toolbench.mcp.handlers import (
    Answer,
    Answerer,
    Question,
    as_answer,
    ask_here,
    current_answerer,
)

T = TypeVar("T")


@dataclass
class _Asked:
    """A question, and where its answer is waited for."""

    question: Question
    answer: "Future[Answer]"


@dataclass
class _Ended:
    """How the call ended."""

    result: Any = None
    error: BaseException | None = None


class Waiting(Generic[T]):
    """The thread that waits for one call.

    A queue carries all that the loop has to say to it: what a future does on its way, a few
    turns of the loop, is most of what waiting costs.
    """

    def __init__(self, answerer: Answerer) -> None:
        """Answer questions by *answerer*, a plain function."""
        self._answerer = answerer
        self._said: SimpleQueue[_Asked | _Ended] = SimpleQueue()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, question: Question) -> Answer:
        """Hand *question* to the waiting thread and return its answer."""
        answer: Future[Answer] = Future()
        self._said.put(_Asked(question, answer))
        return await asyncio.wrap_future(answer)

    def run(
        self,
        call: Callable[[], Coroutine[Any, Any, T]],
        loop: asyncio.AbstractEventLoop,
    ) -> T:
        """Run *call* in *loop*, answer questions until it is done, and return its result.

        Raises:
            asyncio.CancelledError: If it was cancelled.
        """
        try:
            loop.call_soon_threadsafe(self._begin, call, loop)
            while isinstance(said := self._said.get(), _Asked):
                self._answer(said.question, said.answer)
        except BaseException:  # also KeyboardInterrupt: the server is told
            self.cancel(loop)
            raise
        if said.error is not None:
            raise said.error
        result: T = said.result
        return result

    def cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the call, from any thread; who waits for it waits no longer."""
        self._said.put(_Ended(error=asyncio.CancelledError()))
        with suppress(RuntimeError):  # the loop has ended, and with it the call
            loop.call_soon_threadsafe(self._cancel_task)

    def _begin(
        self,
        call: Callable[[], Coroutine[Any, Any, T]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._task = loop.create_task(self._deliver(call))

    async def _deliver(self, call: Callable[[], Coroutine[Any, Any, T]]) -> None:
        try:
            self._said.put(_Ended(await call()))
        except BaseException as error:  # noqa: BLE001 - whoever waits is told, also of a cancellation
            self._said.put(_Ended(error=error))

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _answer(self, question: Question, answer: "Future[Answer]") -> None:
        if answer.cancelled():
            return
        with suppress(InvalidStateError):  # the server stopped waiting meanwhile
            try:
                answer.set_result(as_answer(self._answerer(question)))
            except Exception as error:  # noqa: BLE001 - the server is told that it failed
                answer.set_exception(error)


def wait_answering(
    ask: Callable[..., Coroutine[Any, Any, T]], *args: Any, answerer: Answerer | None
) -> T:
    """Run `ask(*args, answerer=...)` in the background loop, answer questions here, and return.

    Whoever `answering` names here answers; else *answerer*; else the person this code runs for.

    Raises:
        ServerError: If it was cancelled.
        ToolbenchError: If called from the background loop itself.
    """
    named = current_answerer() or answerer or ask_here
    waiting = Waiting[T](named)
    asked = named if iscoroutinefunction(named) else waiting.ask
    try:
        return waiting.run(
            partial(ask, *args, answerer=asked), portal.call(running_loop)
        )
    except asyncio.CancelledError as error:
        msg = "The request was cancelled, and the server was told."
        raise ServerError(msg) from error


async def running_loop() -> asyncio.AbstractEventLoop:
    """Return the loop this runs in."""
    return asyncio.get_running_loop()
