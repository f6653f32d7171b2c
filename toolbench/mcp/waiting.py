"""Wait for a call in the thread that made it, and answer there what the server asks meanwhile.

`input()` works in no other thread than the main one, and a run knows its own.
"""

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from toolbench.mcp.handlers import Answer, Answerer, Question, as_answer

T = TypeVar("T")

_Item = tuple[Question, "Future[Answer]"]


class Waiting:
    """The thread that waits for one call."""

    def __init__(self, answerer: Answerer) -> None:
        """Answer questions by *answerer*, a plain function."""
        self._answerer = answerer
        self._questions: SimpleQueue[_Item | None] = SimpleQueue()

    async def ask(self, question: Question) -> Answer:
        """Hand *question* to the waiting thread and return its answer."""
        answer: Future[Answer] = Future()
        self._questions.put((question, answer))
        return await asyncio.wrap_future(answer)

    def until(self, future: Future[T]) -> T:
        """Answer questions until *future* is done, and return its result."""
        future.add_done_callback(self._wake)
        while (item := self._questions.get()) is not None:
            question, answer = item
            if not answer.cancelled():
                self._answer(question, answer)
        return future.result()

    def _answer(self, question: Question, answer: Future[Answer]) -> None:
        with suppress(InvalidStateError):  # the server stopped waiting meanwhile
            try:
                answer.set_result(as_answer(self._answerer(question)))
            except Exception as error:  # noqa: BLE001 - the server is told that it failed
                answer.set_exception(error)

    def _wake(self, future: Any) -> None:
        self._questions.put(None)
