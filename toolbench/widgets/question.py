"""A question in the middle of a run, as a form; the run waits, the page does not."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any

from toolbench.display.escape import Html, escape
from toolbench.runs.questions import YES_OR_NO, Answer, Question
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.parts import Parts


class QuestionBox:
    """Where a panel shows the questions of its run."""

    def __init__(self, parts: Parts) -> None:
        """Make the box; it is empty until something is asked."""
        self.widget = parts.column()

    def ask(self, question: Question, cancelled: Callable[[], bool]) -> Answer:
        """Show *question* and wait for the answer; a run that is to stop waits no more."""
        answer: Future[Answer] = Future()
        with ExitStack() as shown:
            shown.callback(setattr, self.widget, "children", ())
            self.widget.children = _question(question, answer, shown)
            while not cancelled():
                with suppress(TimeoutError):
                    return answer.result(timeout=0.05)
            return Answer("cancel")


def _question(
    question: Question, answer: "Future[Answer]", shown: ExitStack
) -> list[Any]:
    parts = Parts()
    shown.callback(parts.close)
    who = f"<b>{escape(question.asked_by)}</b> asks: " if question.asked_by else ""
    text = Html(f'<div role="alert">{who}{escape(question.message)}</div>')
    if question.schema is YES_OR_NO:
        accept, refuse = parts.button("Yes", look="primary"), parts.button("No")
        accept.on_click(lambda _: _settle(answer, Answer("accept", {"answer": True})))
        body = []
    else:
        form = SchemaForm(dict(question.schema))
        shown.callback(form.close)
        accept, refuse = parts.button("Accept", look="primary"), parts.button("Decline")
        accept.on_click(lambda _: _accept(form, answer))
        body = [form.widget]
    refuse.on_click(lambda _: _settle(answer, Answer("decline")))
    return [parts.html(text), *body, parts.row(accept, refuse)]


def _accept(form: SchemaForm, answer: "Future[Answer]") -> None:
    if form.errors:
        form.reveal_errors()
    else:
        _settle(answer, Answer("accept", form.value))


def _settle(answer: "Future[Answer]", given: Answer) -> None:
    if not answer.done():  # a double click
        answer.set_result(given)
