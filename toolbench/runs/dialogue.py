"""Questions during a run: who answers them, in which thread, and how long the run waits.

`Dialogue` has the questions and answers of one run. A `Desk` passes the questions of worker threads
to the thread that waits for them, usually the main thread, because `input()` works only there.
`withdrawable` ends a question when the work that asks it is cancelled.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Lock, current_thread, main_thread
from time import monotonic, time
from typing import Any, NamedTuple, TypeVar

from toolbench.core.background_loop import portal
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import KnownSecrets
from toolbench.runs.control import Cancellable, Interruptible
from toolbench.runs.current_run import active_run
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.progress import wait
from toolbench.runs.questions import Answer, Asker, Preset, Question, Wait, preset_in_context
from toolbench.threads import have_threads

T = TypeVar("T")


class Dialogue:
    """The questions of one run and their answers; any thread may use it.

    When a run asks a question, the runs that started it wait too, and their records also keep the
    answer.

    Attributes:
        asker: The function that answers a question if there is no preset answer.
        desk: A function that sends a question to the thread that waits for the run. It is None if
            the run's own thread can ask the user.
        answers: The answers so far, for the record.
        unanswered: The questions that have no answer yet, or never got one.
        waits: The questions that this run itself asked, including questions for consent, with the
            start and the end of each wait.
        version: The number of changes to the questions and answers; see `Run.version`.
        when_changed: A function that is called when a question is asked and when it is answered.
    """

    when_changed: Callable[[], object] | None = None

    def __init__(
        self,
        asker: Asker,
        secrets: KnownSecrets,
        outer: "Dialogue | None" = None,
        *,
        takes_presets: bool = True,
    ) -> None:
        """Create the dialogue of a run that has not asked anything.

        Args:
            asker: The function that answers questions. If there is an *outer* dialogue, the asker
                of that dialogue is used instead.
            secrets: The secrets of the run; secrets in answers are added to them.
            outer: The dialogue of the run that contains this run, if any.
            takes_presets: Whether preset answers may be used. They come from an `answering` block
                inside the run, or from the block in which the run starts.
        """
        self.asker = asker
        self.desk: Callable[[Question], Future[Answer]] | None = None
        if outer is not None:
            self.asker, self.desk = outer.asker, outer.desk
        self.answers: list[Answer] = []
        self.unanswered: list[Question] = []
        self.waits: list[Wait] = []
        self.version = 0
        self._secrets = secrets
        self._outer = outer
        self._takes_presets = takes_presets
        self._preset = preset_in_context()
        # The number of current waits, when the first of them began, and the seconds of all ended
        # waits
        self._waits = 0
        self._began = 0.0
        self._seconds = 0.0
        self._is_over = False
        self._lock = Lock()

    @property
    def is_waiting(self) -> bool:
        """Whether the run waits for an answer."""
        return self._waits > 0

    @property
    def seconds(self) -> float:
        """The seconds for which the run has waited for answers; simultaneous waits count once."""
        with self._lock:
            return self._seconds + self._present()

    def _present(self) -> float:
        """Return the seconds since the current waits began; 0 without a wait, or after the end."""
        if self._is_over or not self._waits:
            return 0.0
        return monotonic() - self._began

    def end(self) -> None:
        """Stop counting time, because the run has ended, perhaps with an open question."""
        with self._lock:
            self._seconds += self._present()
            self._is_over = True

    def preset_for(self, question: Question) -> Preset | None:
        """Return the source of preset answers for *question*; None if the user is asked.

        Preset answers come from an `answering` block. A block around the calling code takes
        precedence over a block around the start of the run.
        """
        if not self._takes_presets:
            return None
        for innermost in (preset_in_context(), self._preset):
            if innermost is not None and (preset := innermost.of(question)) is not None:
                return preset
        return None

    def put(self, question: Question) -> Answer:
        """Ask *question* and return the answer; "no" to a yes-or-no question becomes a decline.

        Raises:
            ToolbenchError: If called in the background loop.
        """
        portal.refuse_inside("current_run().ask_async(message, schema)")
        with self.waiting(question):
            if (preset := self.preset_for(question)) is not None:
                answer = preset(question)
            elif self.desk is not None and have_threads():
                answer = self.desk(question).result()
            else:
                answer = self.asker(question)
        return self._taken(question, answer)

    async def put_async(self, question: Question) -> Answer:
        """Do the same as `put`, without blocking the running loop."""
        with self.waiting(question):
            if (preset := self.preset_for(question)) is not None:
                # Let other tasks of the tool run, as they would if the user answered
                await asyncio.sleep(0)
                answer = preset(question)
            elif self.desk is not None:
                answer = await asyncio.wrap_future(self.desk(question))
            elif current_thread() is main_thread():
                # The loop of a cell: `input()` works
                answer = self.asker(question)
            else:
                answer = await asyncio.to_thread(self.asker, question)
        return self._taken(question, answer)

    def completed(self, question: Question, answer: Answer) -> Answer:
        """Return *answer* with the defaults of *question* added; mask the secrets among them."""
        complete = question.with_defaults(answer)
        if complete is not answer:
            self._learn(question, complete)
        return complete

    @contextmanager
    def waiting(self, question: Question | None = None) -> Iterator[None]:
        """Mark this run, and the runs that contain it, as waiting while the `with` block runs.

        *question* is the question that this run asks. It is None if another run has asked, and this
        run waits for the same answer.
        """
        around = list(self._outward())
        wait = Wait("", time())
        if question is not None:
            wait.question, wait.is_consent = question.message, question.consent is not None
            self.waits.append(wait)
        for dialogue in around:
            dialogue._begin_wait(question)
        try:
            yield
        finally:
            wait.ended = time()
            for dialogue in around:
                dialogue._end_wait()

    def _begin_wait(self, question: Question | None) -> None:
        with self._lock:
            if question is not None:
                self.unanswered.append(question)
            if not self._waits:
                self._began = monotonic()
            self._waits += 1
        self._change()

    def _end_wait(self) -> None:
        with self._lock:
            if self._waits == 1:
                self._seconds += self._present()
            self._waits -= 1
        self._change()

    def _change(self) -> None:
        with self._lock:
            self.version += 1
        if self.when_changed is not None:
            self.when_changed()

    def _taken(self, question: Question, answer: Answer) -> Answer:
        """Keep *answer* for the records, and return it; a "no" is returned as a decline."""
        if question.consent is None:
            self._learn(question, answer)
            if question.is_recorded:
                recorded = answer.to(question)
                for dialogue in self._outward():
                    dialogue.answers.append(recorded)
        for dialogue in self._outward():
            dialogue.unanswered.remove(question)
        return question.meaning_of(answer)

    def _learn(self, question: Question, answer: Answer) -> None:
        """Mask the secrets of *answer* in the output of this run and of all runs around it."""
        secrecy = Secrecy(question.schema)
        for dialogue in self._outward():
            dialogue._secrets.learn(answer.content or {}, secrecy)

    def _outward(self) -> "Iterator[Dialogue]":
        dialogue: Dialogue | None = self
        while dialogue is not None:
            yield dialogue
            dialogue = dialogue._outer


def preset_here(question: Question) -> Preset | None:
    """Return the source of preset answers for the calling code's *question*; None to ask the user.

    Inside a run, the preset answers of the run are used. Outside a run, the answers of an
    `answering` block around the calling code are used.
    """
    # The current run may be an object other than a `Run`
    dialogue = getattr(active_run(), "dialogue", None)
    if isinstance(dialogue, Dialogue):
        return dialogue.preset_for(question)
    innermost = preset_in_context()
    if innermost is None:
        return None
    return innermost.of(question)


def answer_here(question: Question, asker: Asker = ask_in_cell) -> Answer:
    """Answer *question*, which is asked outside a run, by a preset answer or else by *asker*.

    If the answer to a yes-or-no question is "no", the result is a decline.
    """
    return question.meaning_of((preset_here(question) or asker)(question))


class _Asked(NamedTuple):
    """A question on a desk, the function that answers it, and the future for the answer."""

    question: Any
    answerer: Callable[[Any], Answer]
    answer: "Future[Answer]"

    def settle(self) -> None:
        """Call the answerer in this thread; an error that it raises goes to the asking thread."""
        if self.answer.cancelled():
            return
        # The asking thread may have stopped waiting
        with suppress(InvalidStateError):
            try:
                self.answer.set_result(self.answerer(self.question))
            except Exception as error:  # noqa: BLE001 - who asks gets the error
                self.answer.set_exception(error)
            except BaseException:
                # This thread is interrupted
                self.answer.set_result(Answer("cancel"))
                raise


class _End(NamedTuple):
    """The end of a coroutine: its result or its error."""

    result: Any = None
    error: BaseException | None = None


class Desk:
    """A queue of questions from worker threads to the thread that waits for their work.

    The same queue also reports the end of the work. This is faster than a future of an event loop.
    """

    def __init__(
        self, answerer: Callable[[Any], Answer], meanwhile: Callable[[], object] | None = None
    ) -> None:
        """Create a desk whose questions the waiting thread answers.

        Args:
            answerer: The function that answers a question in the waiting thread; not async.
            meanwhile: A function that is called regularly during the wait. By default, it is the
                function that `portal.drawing` has set, if any.
        """
        self._answerer = answerer
        self._meanwhile = meanwhile or portal.drawer
        self._messages: SimpleQueue[Any] = SimpleQueue()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    def put(
        self, question: Any, answerer: Callable[[Any], Answer] | None = None
    ) -> "Future[Answer]":
        """Send *question* to the waiting thread, and return the future of its answer.

        If no thread waits any more, the future's result is a cancel.

        Args:
            question: The question.
            answerer: The function that answers this question; by default, the function that the
                desk was created with.
        """
        answer: Future[Answer] = Future()
        self._messages.put(_Asked(question, answerer or self._answerer, answer))
        # Checked last, so that no question is left without an answer
        if self._is_closed:
            self._drop()
        return answer

    async def ask(self, question: Any) -> Answer:
        """Send *question* to the waiting thread and return its answer."""
        return await asyncio.wrap_future(self.put(question))

    def tell(self, news: Any) -> None:
        """End the wait of the waiting thread: `serve` returns *news* there."""
        self._messages.put(news)

    def serve(self) -> Any:
        """Answer questions until `tell` is called, and return the news passed to it."""
        while isinstance(message := wait(self._messages, self._meanwhile), _Asked):
            message.settle()
        return message

    def serve_until(
        self, call: Callable[[], Coroutine[Any, Any, T]], loop: asyncio.AbstractEventLoop
    ) -> T:
        """Run *call* in *loop*, answer questions until *call* has ended, and return its result.

        Raises:
            asyncio.CancelledError: If the call was cancelled.
            ToolbenchError: If called in the background loop, because the loop would wait for
                itself.
        """
        portal.refuse_inside()
        try:
            loop.call_soon_threadsafe(self._begin, call, loop)
            end: _End = self.serve()
        except BaseException:
            # Even on KeyboardInterrupt, cancel the task
            self.cancel(loop)
            raise
        finally:
            self.close()
        if end.error is not None:
            raise end.error
        result: T = end.result
        return result

    def cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the call of `serve_until` and end the wait for it, from any thread."""
        self.tell(_End(error=asyncio.CancelledError()))
        # The loop has ended, and with it the call
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._cancel_task)

    def close(self) -> None:
        """Answer all remaining and later questions with a cancel."""
        self._is_closed = True
        # It may refer to this desk, and both would wait for the garbage collector
        self._meanwhile = None
        self._drop()

    def _begin(
        self, call: Callable[[], Coroutine[Any, Any, Any]], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._task = loop.create_task(self._deliver(call))

    async def _deliver(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        try:
            self.tell(_End(await call()))
        except BaseException as error:  # noqa: BLE001 - the waiting thread gets it, also a cancellation
            self.tell(_End(error=error))

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _drop(self) -> None:
        with suppress(Empty):
            while True:
                message = self._messages.get_nowait()
                if isinstance(message, _Asked):
                    settle(message.answer, Answer("cancel"))


def settle(answer: "Future[T]", value: T) -> bool:
    """Set the result of the future *answer* to *value*; return False if it already has one."""
    try:
        answer.set_result(value)
    except InvalidStateError:
        return False
    return True


class _QuestionWithdrawn(BaseException):
    """Raised in `input()`, or wherever the asker waits, to stop waiting for the user."""


def withdrawable(ask: Asker, work: Cancellable) -> Asker:
    """Return a function like *ask* that stops asking as soon as *work* is cancelled.

    The answer is then a cancel. In the main thread, *ask* may be blocked in `input()`, which only
    an exception can end. In a terminal, the exception arrives only after the user presses Enter. In
    any other thread, *ask* itself has to notice that *work* is cancelled.
    """

    def answer_of(question: Question) -> Answer:
        if work.cancelled:
            return Answer("cancel")
        if current_thread() is not main_thread():
            return ask(question)
        asking = Interruptible(_QuestionWithdrawn)

        def strike() -> None:
            # If *ask* itself cancels, an exception would interrupt the cancelling
            if work.cancelled_in is not main_thread():
                asking.strike()

        def asked() -> Answer:
            forget = work.on_cancel(strike)
            answer = ask(question)
            forget()
            return answer

        try:
            return asking.carry_out(asked)
        except _QuestionWithdrawn:
            return Answer("cancel")

    return answer_of
