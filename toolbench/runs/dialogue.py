"""What waits during a run: a thread for a coroutine and its questions, a run for people.

`CoroutineWait` answers the questions of a coroutine in the thread that needs its result, because
`input()` works only in the main thread. `withdrawable` ends a question whose work was cancelled.
`WaitingTime` counts the time in which a run waits: it is no work of the tool.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, current_thread, main_thread
from time import monotonic
from typing import Any, Generic, TypeVar

from toolbench.core.background_loop import portal
from toolbench.runs.control import Cancellable, Interruptible
from toolbench.runs.progress import wait
from toolbench.runs.questions import Answer, Asker, Question

T = TypeVar("T")


@dataclass
class _Request:
    """A question that the coroutine asks, and the future that will hold the answer."""

    question: Any
    answer: "Future[Answer]"


@dataclass
class _End:
    """The end of the awaited call: its result or its error."""

    result: Any = None
    error: BaseException | None = None


class CoroutineWait(Generic[T]):
    """The wait of one thread for one call of a coroutine function in an event loop.

    The loop sends questions and the end of the call through a queue. This takes less time than a
    future, which needs more turns of the loop.
    """

    def __init__(
        self,
        answerer: Callable[[Any], Answer],
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        """Prepare to wait.

        Args:
            answerer: The plain function that answers a question, in the waiting thread.
            meanwhile: A function that is called regularly during the wait, if any.
        """
        self._answerer = answerer
        self._meanwhile = meanwhile
        self._messages: SimpleQueue[_Request | _End] = SimpleQueue()
        self._task: asyncio.Task[None] | None = None
        self._is_over = False

    def put(self, question: Any) -> "Future[Answer]":
        """Send *question* to the waiting thread, and return the future of the answer.

        If the wait is over, the answer is a cancel.
        """
        answer: Future[Answer] = Future()
        self._messages.put(_Request(question, answer))
        # Checked last, so that no question is left
        if self._is_over:
            self._drop()
        return answer

    async def ask(self, question: Any) -> Answer:
        """Send *question* to the waiting thread and return its answer."""
        return await asyncio.wrap_future(self.put(question))

    def run(
        self,
        call: Callable[[], Coroutine[Any, Any, T]],
        loop: asyncio.AbstractEventLoop,
    ) -> T:
        """Run *call* in *loop*, answer questions until *call* has ended, and return its result.

        Raises:
            asyncio.CancelledError: If the call was cancelled.
            ToolbenchError: If this is called in the background loop, which would wait for itself.
        """
        portal.refuse_inside()
        try:
            loop.call_soon_threadsafe(self._begin, call, loop)
            while isinstance(event := wait(self._messages, self._meanwhile), _Request):
                self._answer(event.question, event.answer)
        except BaseException:
            # Also at KeyboardInterrupt: cancel the task
            self.cancel(loop)
            raise
        finally:
            self._is_over = True
            self._drop()
        if event.error is not None:
            raise event.error
        result: T = event.result
        return result

    def cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the call and end the wait for it, from any thread."""
        self._messages.put(_End(error=asyncio.CancelledError()))
        # The loop has ended, and with it the call
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._cancel_task)

    def _begin(
        self,
        call: Callable[[], Coroutine[Any, Any, T]],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._task = loop.create_task(self._deliver(call))

    async def _deliver(self, call: Callable[[], Coroutine[Any, Any, T]]) -> None:
        try:
            self._messages.put(_End(await call()))
        except BaseException as error:  # noqa: BLE001 - the waiting thread gets it, also a cancellation
            self._messages.put(_End(error=error))

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _answer(self, question: Any, answer: "Future[Answer]") -> None:
        if answer.cancelled():
            return
        # The caller stopped waiting meanwhile
        with suppress(InvalidStateError):
            try:
                answer.set_result(self._answerer(question))
            except Exception as error:  # noqa: BLE001 - the caller gets the error
                answer.set_exception(error)
            except BaseException:
                # This thread is interrupted
                answer.set_result(Answer("cancel"))
                raise

    def _drop(self) -> None:
        """Answer the questions that are still in the queue with a cancel."""
        with suppress(Empty):
            while True:
                event = self._messages.get_nowait()
                if isinstance(event, _Request):
                    # Its caller has stopped waiting
                    with suppress(InvalidStateError):
                        event.answer.set_result(Answer("cancel"))


class _QuestionWithdrawn(BaseException):
    """Raised inside `input()`, or wherever the asker is, to stop waiting for the person."""


def withdrawable(ask: Asker, work: Cancellable) -> Asker:
    """Return an asker that asks through *ask*; if *work* is cancelled, the answer is a cancel at once.

    In the main thread, *ask* may wait in `input()`, which looks for nothing else: an exception ends
    it. In a terminal this happens only after the next Enter. In any other thread, *ask* itself has
    to notice the cancel. If *ask* itself cancels *work*, no exception is raised: it would end the
    cancelling halfway.
    """

    def answer_of(question: Question) -> Answer:
        if work.cancelled:
            return Answer("cancel")
        if current_thread() is not main_thread():
            return ask(question)
        asking = Interruptible(_QuestionWithdrawn)

        def strike() -> None:
            if work.cancelled_in is not main_thread():
                asking.strike()

        try:
            try:
                asking.begin()
                forget = work.on_cancel(strike)
                answer = ask(question)
                forget()
                return answer
            finally:
                asking.end()
        except _QuestionWithdrawn:
            # Again: the exception may have hit the first call
            asking.end()
            return Answer("cancel")

    return answer_of


class WaitingTime:
    """The seconds in which one run waited; waits at the same time count once. Any thread may use it."""

    def __init__(self) -> None:
        """Begin with no wait."""
        self._seconds = 0.0
        # The waits that go on
        self._count = 0
        self._begin = 0.0
        self._is_over = False
        self._lock = Lock()

    @property
    def seconds(self) -> float:
        """The seconds of all waits until now."""
        with self._lock:
            return self._seconds + self._present()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of the `with` block as a wait."""
        with self._lock:
            if not self._count:
                self._begin = monotonic()
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._seconds += self._present() if self._count == 1 else 0.0
                self._count -= 1

    def end(self) -> None:
        """Count no time from now on: the run has ended, perhaps with an open question."""
        with self._lock:
            self._seconds += self._present()
            self._is_over = True

    def _present(self) -> float:
        """Return the seconds since all present waits began; 0 without a wait, or after the end."""
        return 0.0 if self._is_over or not self._count else monotonic() - self._begin
