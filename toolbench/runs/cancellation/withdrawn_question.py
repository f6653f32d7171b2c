"""Withdraw a question that waits for `input()` when the work that asks it is cancelled."""

from threading import current_thread, main_thread

from toolbench.runs.control import Cancellable, Interruptible
from toolbench.runs.questions import Answer, Asker, Question


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
