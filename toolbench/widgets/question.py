"""A question in the middle of a run, as a form; the run waits, the page does not."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import ExitStack, suppress
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from toolbench.display.escape import Html, escape, link
from toolbench.runs.questions import YES_OR_NO, Answer, Question
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.parts import Parts
from toolbench.widgets.quiet import Quiet

_LOOK = 0.05  # seconds between looks whether the run is to stop
_LEAVE = "Neither accept nor decline; whoever asks decides how to go on"


class QuestionBox:
    """Where a panel shows the questions of its run, one at a time."""

    def __init__(self, parts: Parts) -> None:
        """Make the box; it is empty until something is asked."""
        self.widget = parts.column(kind="toolbench-question")
        self._turn = Lock()

    def ask(self, question: Question, cancelled: Callable[[], bool]) -> Answer:
        """Show *question* and wait for the answer; a run that is to stop waits no more."""
        while not self._turn.acquire(
            timeout=_LOOK
        ):  # threads of one run may ask at once
            if cancelled():
                return Answer("cancel")
        with ExitStack() as shown:
            shown.callback(self._turn.release)
            return self._answer(question, cancelled, shown)

    def _answer(
        self, question: Question, cancelled: Callable[[], bool], shown: ExitStack
    ) -> Answer:
        answer: Future[Answer] = Future()
        parts = Parts()
        shown.callback(parts.close)
        shown.callback(setattr, self.widget, "children", ())
        self.widget.children = _asking(question, answer, parts, shown)
        while not cancelled():
            with suppress(TimeoutError):
                return answer.result(timeout=_LOOK)
        return Answer("cancel")


def _asking(
    question: Question, answer: "Future[Answer]", parts: Parts, shown: ExitStack
) -> list[Any]:
    who = (
        f"<strong>{escape(question.asked_by)}</strong> asks: "
        if question.asked_by
        else ""
    )
    text = Html(
        f'<div role="alert" style="white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{who}{escape(question.message)}</div>{_page_link(question.url)}"
    )
    if question.schema is YES_OR_NO:
        accept, refuse = parts.button("Yes", look="primary"), parts.button("No")
        accept.on_click(lambda _: _settle(answer, Answer("accept", {"answer": True})))
        body = []
    else:
        form, quiet = SchemaForm(dict(question.schema)), Quiet()
        form.observe(lambda _: quiet.edited())
        shown.callback(form.close)
        accept, refuse = parts.button("Accept", look="primary"), parts.button("Decline")
        accept.on_click(lambda _: quiet.then(lambda: _accept(form, answer)))
        body = [form.widget]
    refuse.on_click(lambda _: _settle(answer, Answer("decline")))
    buttons = [accept, refuse]
    if question.schema is not YES_OR_NO or question.url:
        buttons.append(leave := parts.button("Cancel question", tip=_LEAVE))
        leave.on_click(lambda _: _settle(answer, Answer("cancel")))
    return [parts.html(text), *body, parts.row(*buttons)]


def _page_link(url: str) -> Html:
    """A link to the page of the question, its host in words; nothing that is not plainly safe."""
    try:
        host = (urlsplit(url).hostname or "").encode("idna").decode()
    except ValueError:  # no host, or none that DNS could know
        return Html("")
    if not host or not url.lower().startswith(("https://", "http://")):
        return Html("")
    label = Html(f"Open the page at <strong>{escape(host)}</strong> in a new tab")
    anchor = link(url, label)
    return anchor if anchor != label else Html("")


def _accept(form: SchemaForm, answer: "Future[Answer]") -> None:
    if form.errors:
        form.reveal_errors()
    else:
        _settle(answer, Answer("accept", form.value))


def _settle(answer: "Future[Answer]", given: Answer) -> None:
    with suppress(InvalidStateError):  # a double click
        answer.set_result(given)
