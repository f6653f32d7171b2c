"""A question that a run asks, shown as a form. The run waits for the answer; the page does not."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import cycle
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import ipywidgets as w

from toolbench.display.css import CODE_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, link
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run
from toolbench.runs.dialogue import settle
from toolbench.runs.questions import YES_OR_NO, Answer, ConsentLabels, Question
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import SUBMIT, Parts, put

KEEP = "toolbench-keep"
"""The CSS class of the button that refuses a call. Our JavaScript module gives it the focus."""
AGREE = "toolbench-agree"
"""The CSS class of a button that approves.

Our JavaScript module blocks the button while it moves in the page.
"""
REMEMBER = "Do not ask about this tool again in this session"
"""The label of the checkbox that remembers the approval for the session."""
_REFUSE = "Decline: the tool or server learns that you do not want to answer"
_LEAVE = "Neither accept nor decline: the tool or server decides how to continue"


class QuestionBox:
    """The part of a panel that shows the questions which a run asks, one question at a time."""

    def __init__(self, parts: Parts) -> None:
        """Make the box. It is empty until there is a question."""
        self.widget = parts.column(kind="toolbench-question")
        self._lock = Lock()
        # Questions without an answer; the first is shown
        self._views: dict[Future[Answer], QuestionView] = {}

    def ask(self, question: Question, work: Cancellable) -> Answer:
        """Show *question*, wait for the answer, and return it.

        If *work* or the run that asks is cancelled before the user answers, return the answer
        "cancel".
        """
        answer = self.put(question)
        cancel = partial(settle, answer, Answer("cancel"))
        forget_work = work.on_cancel(cancel)
        forget_run = current_run().on_cancel(cancel)
        try:
            return answer.result()
        finally:
            forget_work()
            forget_run()
            # An exception, such as an interrupt, may also end the wait
            cancel()

    def put(self, question: Question) -> "Future[Answer]":
        """Queue *question* behind the earlier ones, and return a future of its answer."""
        answer: Future[Answer] = Future()
        # Here, so that the caller gets the error if the schema cannot be shown
        view = QuestionView(question, partial(settle, answer))
        with self._lock:
            self._views[answer] = view
            self._show_first()
        answer.add_done_callback(self._answered)
        return answer

    def _answered(self, answer: "Future[Answer]") -> None:
        with self._lock:
            view = self._views.pop(answer)
            self._show_first()
        view.close()

    def _show_first(self) -> None:
        """Show the earliest question without an answer. The caller holds the lock."""
        widgets: list[Any] = []
        for view in self._views.values():
            widgets = view.widgets
            break
        # Widgets that are already shown are not sent again: the page would lose what was typed
        self.widget.children = widgets


class QuestionView:
    """The text of one question, the fields for its answer, and the buttons.

    Attributes:
        widgets: The widgets, from top to bottom.
    """

    def __init__(self, question: Question, reply: Callable[[Answer], object]) -> None:
        """Ask *question*. *reply* is called with the answer. A double click calls it twice."""
        self._question, self._reply = question, reply
        self._parts = Parts()
        self._form: SchemaForm | None = None
        if question.consent is not None:
            self.widgets = self._consent(question.consent)
        elif question.schema is YES_OR_NO:
            self.widgets = self._yes_or_no()
        else:
            self.widgets = self._fields()

    def close(self) -> None:
        """Close all widgets of the question."""
        if self._form is not None:
            self._form.close()
        self._parts.close()

    def _consent(self, consent: ConsentLabels) -> list[Any]:
        """Return the widgets with which the user approves or refuses a call.

        The button that refuses gets the focus.
        """
        text = question_text(self._question, self._parts, role="alert")
        accept, *remember = agreeing(consent, self._parts, self._reply)
        refuse = self._button(consent.refusal, Answer("decline"), kind=KEEP)
        return [*text, *remember, self._parts.row(refuse, accept)]

    def _yes_or_no(self) -> list[Any]:
        yes = self._button("Yes", Answer("accept", {"answer": True}), look="primary")
        buttons = [yes, self._button("No", Answer("decline"))]
        if self._question.url:
            buttons.append(self._leave())
        return [self._text(), self._parts.row(*buttons)]

    def _fields(self) -> list[Any]:
        form = SchemaForm(dict(self._question.schema))
        self._form = form
        accept = self._parts.button("Accept", look="primary", kind=SUBMIT)
        accept.on_click(lambda _: self._accept(form))
        decline = self._button("Decline", Answer("decline"), tip=_REFUSE)
        buttons = self._parts.row(accept, decline, self._leave())
        return [self._text(), form.widget, buttons]

    def _accept(self, form: SchemaForm) -> None:
        if form.errors:
            form.reveal_errors(focus=True)
        elif problems := self._question.format_problems(form.value):
            form.show_problems(problems)
            form.reveal_errors(focus=True)
        else:
            self._reply(Answer("accept", form.value))

    def _text(self) -> Any:
        message = f"{_asker(self._question)}{escape(self._question.message)}"
        style = "white-space:pre-wrap;overflow-wrap:anywhere"
        text = f'<div role="alert" style="{style}">{message}</div>'
        return self._parts.html(Html(text + _page_link(self._question.url)))

    def _leave(self) -> Any:
        return self._button("Cancel question", Answer("cancel"), tip=_LEAVE, kind="toolbench-quiet")

    def _button(self, label: str, answer: Answer, **state: Any) -> Any:
        """Return a button that replies with *answer*."""
        button = self._parts.button(label, **state)
        button.on_click(lambda _: self._reply(answer))
        return button


def question_text(question: Question, parts: Parts, role: str = "") -> list[Any]:
    """Return widgets that show the text of *question*.

    If the text is long, only its first part is shown, with a button that shows the next part.
    *role* is the ARIA role of the text until the user first clicks this button.
    """
    first, _, call = question.message.partition("\n")
    head = f"{_asker(question)}<strong>{escape(first)}</strong>"
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
    for number in range(2, len(pages) + 1):
        labels.append(f"Show part {number} of {len(pages)}")
    labels.append("Show less")
    places = cycle([*range(1, len(views)), 0])
    button = parts.button(labels[0], kind="toolbench-quiet")

    def show_next() -> None:
        place = next(places)
        button.description = button.tooltip = labels[place]
        put(text, views[place])

    button.on_click(lambda _: show_next())
    return [text, button]


def _asker(question: Question) -> Html:
    """Return who asks *question*, such as "erase asks: "; empty if the name is not known."""
    if not question.asked_by:
        return Html("")
    return Html(f"<strong>{escape(question.asked_by)}</strong> asks: ")


def _lines(text: str) -> Html:
    """Return *text* as HTML with one element per line; empty if *text* is empty."""
    if not text:
        return Html("")
    return Html("".join(f"<div>{line}</div>" for line in escape(text).split("\n")))


def agreeing(consent: ConsentLabels, parts: Parts, reply: Callable[[Answer], object]) -> list[Any]:
    """Return a button to approve. If allowed, also return a checkbox to remember the approval.

    Args:
        consent: The labels of the widgets.
        parts: The factory of the widgets.
        reply: A function that is called with the answer when the user clicks the button.
    """
    look = "primary"
    if consent.is_dangerous:
        look = "danger"
    accept = parts.button(consent.act, look=look, kind=AGREE)
    if not consent.can_be_remembered:
        accept.on_click(lambda _: reply(Answer("accept", {"answer": True})))
        return [accept]
    remember = parts.make(
        w.Checkbox,
        "toolbench-remember",
        value=True,
        description=REMEMBER,
        indent=False,
    )

    def agree() -> None:
        reply(Answer("accept", {"answer": True, "remember": remember.value}))

    accept.on_click(lambda _: agree())
    return [accept, remember]


def _page_link(url: str) -> Html:
    """Return a link to *url* with its host as the label; empty if *url* may deceive the user.

    For example, `https://bank.example@other.example` looks like a page of bank.example.
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
    if anchor == label:
        return Html("")
    return anchor
