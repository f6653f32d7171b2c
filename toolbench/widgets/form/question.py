"""Show a question that a run asks, as a form. The run waits for the answer, but the page does not."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from itertools import cycle
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import ipywidgets as w

from toolbench.display.css import CODE_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, link
from toolbench.runs.dialogue import settle
from toolbench.runs.questions import YES_OR_NO, Answer, ConsentLabels, Question
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.debounce import Debounce
from toolbench.widgets.kit.parts import SUBMIT, Parts, put

KEEP = "toolbench-keep"
"""The CSS class of the button that refuses a call. Our JavaScript module gives it the focus."""
AGREE = "toolbench-agree"
"""The CSS class of a button that agrees. Our JavaScript module holds it while it moves in the page."""
REMEMBER = "Do not ask about this tool again in this session"
"""The label of the checkbox to remember the consent for the session."""
# Seconds between two checks for a cancel
_LOOK = 0.05
_REFUSE = "Say no: the tool or server hears that you do not want to answer"
_LEAVE = "Neither accept nor decline; the tool or server decides how to go on"


class QuestionBox:
    """The part of a panel that shows the questions of its run, one question at a time."""

    def __init__(self, parts: Parts) -> None:
        """Make the box. It is empty until there is a question."""
        self.widget = parts.column(kind="toolbench-question")
        self._turn = Lock()
        self._last: Future[Answer] | None = None

    def ask(self, question: Question, cancelled: Callable[[], bool]) -> Answer:
        """Show *question*, wait for the answer, and return it.

        If the run is cancelled first, return the answer "cancel".
        """
        # Threads of one run may ask at once
        while not self._turn.acquire(timeout=_LOOK):
            if cancelled():
                return Answer("cancel")
        with ExitStack() as stack:
            stack.callback(self._turn.release)
            return self._answer(question, cancelled, stack)

    def _answer(
        self, question: Question, cancelled: Callable[[], bool], stack: ExitStack
    ) -> Answer:
        answer: Future[Answer] = Future()
        parts = Parts()
        stack.callback(parts.close)
        stack.callback(setattr, self.widget, "children", ())
        self.widget.children = asking(question, answer, parts, stack)
        while not cancelled():
            with suppress(TimeoutError):
                return answer.result(timeout=_LOOK)
        return Answer("cancel")

    def put(self, question: Question) -> "Future[Answer]":
        """Show *question* after the earlier questions. At once return a future for its answer."""
        answer: Future[Answer] = Future()
        before, self._last = self._last, answer
        if before is None:
            self._show(question, answer)
        else:
            before.add_done_callback(lambda _: self._show(question, answer))
        return answer

    def _show(self, question: Question, answer: "Future[Answer]") -> None:
        if answer.done():
            return
        parts, stack = Parts(), ExitStack()
        stack.callback(parts.close)
        stack.callback(setattr, self.widget, "children", ())
        self.widget.children = asking(question, answer, parts, stack)
        answer.add_done_callback(lambda _: stack.close())


def asking(
    question: Question, answer: "Future[Answer]", parts: Parts, stack: ExitStack
) -> list[Any]:
    """Return the widgets that ask *question* and put the reply into *answer*.

    Args:
        question: The question.
        answer: The future that gets the answer.
        parts: The factory of the widgets.
        stack: The stack that closes the form of the question; *parts* does not close the form.
    """
    who = f"<strong>{escape(question.asked_by)}</strong> asks: " if question.asked_by else ""
    if question.consent is not None:
        return [
            *question_text(question, parts, role="alert"),
            *_consenting(question.consent, answer, parts),
        ]
    text = Html(
        f'<div role="alert" style="white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{who}{escape(question.message)}</div>{_page_link(question.url)}"
    )
    if question.schema is YES_OR_NO:
        accept, refuse = parts.button("Yes", look="primary"), parts.button("No")
        accept.on_click(lambda _: settle(answer, Answer("accept", {"answer": True})))
        body = []
    else:
        form, debounce = SchemaForm(dict(question.schema)), Debounce()
        form.observe(lambda _: debounce.edited())
        stack.callback(form.close)
        accept = parts.button("Accept", look="primary", kind=SUBMIT)
        refuse = parts.button("Decline", tip=_REFUSE)
        accept.on_click(lambda _: debounce.then(_accept, form, question, answer))
        body = [form.widget]
    refuse.on_click(lambda _: settle(answer, Answer("decline")))
    buttons = [accept, refuse]
    if question.schema is not YES_OR_NO or question.url:
        leave = parts.button("Cancel question", tip=_LEAVE, kind="toolbench-quiet")
        buttons.append(leave)
        leave.on_click(lambda _: settle(answer, Answer("cancel")))
    return [parts.html(text), *body, parts.row(*buttons)]


def question_text(question: Question, parts: Parts, role: str = "") -> list[Any]:
    """Return the text of *question*, and below it a button that shows the rest of it, if any.

    A click on the button shows all of the text, or its next page. *role* is the ARIA role of the
    text before a click.
    """
    who = f"<strong>{escape(question.asked_by)}</strong> asks: " if question.asked_by else ""
    first, _, call = question.message.partition("\n")
    head = f"{who}<strong>{escape(first)}</strong>"
    pages = question.pages
    views = [
        Html(
            f'<div style="overflow-wrap:anywhere">{head}'
            f'<div {NO_MATHS} style="{CODE_FONT}">{_lines(shown)}</div></div>'
        )
        for shown in [call, *pages]
    ]
    first_view = views[0]
    if role:
        first_view = Html(f'<div role="{role}">{views[0]}</div>')
    text = parts.html(first_view, kind="toolbench-asked")
    if not pages:
        return [text]
    labels = [f"Show all {len(question.whole):,} characters"]
    labels += [f"Show part {number} of {len(pages)}" for number in range(2, len(pages) + 1)]
    labels.append("Show less")
    places = cycle([*range(1, len(views)), 0])
    button = parts.button(labels[0], kind="toolbench-quiet")

    def show_next() -> None:
        place = next(places)
        button.description = button.tooltip = labels[place]
        put(text, views[place])

    button.on_click(lambda _: show_next())
    return [text, button]


def _lines(text: str) -> Html:
    """Return the HTML of *text*, each line an element; empty without a text."""
    if not text:
        return Html("")
    return Html("".join(f"<div>{line}</div>" for line in escape(text).split("\n")))


def _consenting(consent: ConsentLabels, answer: "Future[Answer]", parts: Parts) -> list[Any]:
    """Return a button to run the call and a button to refuse it. The second button gets the focus.

    There may also be a checkbox to remember the consent.
    """
    accept, *more = agreeing(consent, parts, lambda reply: settle(answer, reply))
    refuse = parts.button(consent.refusal, kind=KEEP)
    refuse.on_click(lambda _: settle(answer, Answer("decline")))
    return [*more, parts.row(refuse, accept)]


def agreeing(consent: ConsentLabels, parts: Parts, reply: Callable[[Answer], object]) -> list[Any]:
    """Return the button to consent and, if allowed, a checkbox to remember the consent.

    Args:
        consent: The labels of the question.
        parts: The factory of the widgets.
        reply: A function that gets the answer.
    """
    look = "danger" if consent.is_dangerous else "primary"
    accept = parts.button(consent.act, look=look, kind=AGREE)
    remember = parts.make(
        w.Checkbox,
        "toolbench-remember",
        value=True,
        description=REMEMBER,
        indent=False,
    )

    def agree() -> None:
        chosen = {"remember": remember.value} if consent.can_be_remembered else {}
        reply(Answer("accept", {"answer": True, **chosen}))

    accept.on_click(lambda _: agree())
    return [accept, remember] if consent.can_be_remembered else [accept]


def _page_link(url: str) -> Html:
    """Return a link to *url* that shows the host; empty if *url* may be unsafe.

    For example, *url* is unsafe if it has a name before the host, which is there to deceive, as in
    `https://bank.example@other.example`.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:
        # No host, or not a valid one
        return Html("")
    if not host or "@" in parts.netloc or not url.lower().startswith(("https://", "http://")):
        return Html("")
    label = Html(f"Open the page at <strong>{escape(host)}</strong> in a new tab")
    anchor = link(url, label)
    return anchor if anchor != label else Html("")


def _accept(form: SchemaForm, question: Question, answer: "Future[Answer]") -> None:
    if form.errors:
        form.reveal_errors(focus=True)
    elif problems := question.format_problems(form.value):
        form.show_problems(problems)
        form.reveal_errors(focus=True)
    else:
        settle(answer, Answer("accept", form.value))
