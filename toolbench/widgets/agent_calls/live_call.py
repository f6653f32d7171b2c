"""The view of a call that waits for a person or runs for long, with fields to answer by hand."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import ipywidgets as w

from toolbench.core.schema import Observation
from toolbench.display.css import CODE_FONT, REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.page import badge, notice, short
from toolbench.errors import ToolbenchError
from toolbench.runs.questions import Answer, ConsentLabels, Question
from toolbench.serving.call import ServedCall
from toolbench.serving.call_results import output_schema_of
from toolbench.serving.served_view import printed_html, subject, tone, words
from toolbench.widgets.form.by_hand import ByHand
from toolbench.widgets.form.question import QuestionView, agreeing, question_text
from toolbench.widgets.kit.parts import Parts, put


class LiveCall:
    """The view of one call that has not ended: its question, if there is one, and its buttons."""

    def __init__(self, call: ServedCall) -> None:
        """Show *call*."""
        self.call = call
        self._parts = parts = Parts()
        self._question: Question | None = None
        self._asking = ExitStack()
        self._by_hand = ByHand(
            call.tool,
            answer=self._answer,
            refuse=self._refuse,
            schema=partial(output_schema_of, call.run.tool),
        )
        self._head, self._problem = parts.html(), parts.html()
        self._printed, self._version = parts.html(), -1
        self._fields = parts.column()
        self._hand = self._button(
            "Answer by hand",
            self._by_hand.ask_for_answer,
            tip="Write the result in place of the tool",
        )
        self._refusal = self._button("", self._ask_for_reason)
        self._buttons = parts.row(self._hand, self._refusal)
        self.widget = parts.column(
            *(self._head, self._printed, self._fields, self._buttons),
            *(self._by_hand.widget, self._problem),
            kind="toolbench-question",
        )
        self._ask(None)
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the call; only changes are sent to the page."""
        question = next(iter(self.call.questions), None)
        if question is not self._question:
            self._question = question
            self._ask(question)
        put(self._head, _head_html(self.call))
        version = self.call.run.version
        if version != self._version:
            self._version = version
            put(self._printed, printed_html(self.call, lines=_LINES, limit=_LIMIT))

    def _ask(self, question: Question | None) -> None:
        """Show *question* with its fields and buttons. If it is None, show the buttons of a running call."""
        old, self._asking = self._asking, ExitStack()
        is_consent = question is not None and question.consent is not None
        word = "Refuse" if is_consent else "Stop"
        self._refusal.description = word
        self._refusal.tooltip = f"{word}: {self.call.tool}"
        name = "toolbench-waiting"
        change = self.widget.remove_class if question is None else self.widget.add_class
        change(name)
        if question is None:
            self._fields.children = ()
            self._buttons.children = (self._hand, self._refusal)
        elif question.consent is not None:
            fields, accept = self._consenting(question, question.consent)
            self._fields.children = fields
            self._buttons.children = (accept, self._hand, self._refusal)
        else:
            view = QuestionView(question, partial(self._reply, question))
            self._asking.callback(view.close)
            self._fields.children = view.widgets
            self._buttons.children = (self._hand, self._refusal)
        old.close()

    def _consenting(self, question: Question, consent: ConsentLabels) -> tuple[list[Any], Any]:
        """Return the widgets that ask a person for consent to the call, and the button that allows it."""
        parts = Parts()
        self._asking.callback(parts.close)
        accept, *more = agreeing(consent, parts, lambda answer: self._reply(question, answer))
        return [*question_text(question, parts), *more], accept

    def _reply(self, question: Question, answer: Answer) -> None:
        self.call.reply(question, answer)

    def _answer(self, observation: Observation) -> None:
        put(self._problem, Html(""))
        try:
            self.call.answer(observation)
        except ToolbenchError as error:
            put(self._problem, notice(str(error), "danger"))

    def _ask_for_reason(self) -> None:
        self._by_hand.ask_for_reason(f"{self._refusal.description} it")

    def _refuse(self, reason: str) -> None:
        """If the shown question asks for consent, answer that the person refuses; else stop the call.

        *reason* may be empty.
        """
        question = self._question
        if question is not None and question.consent is not None:
            self._reply(question, Answer("decline", {"reason": reason}))
        else:
            self.call.stop(f"stopped by the person{f': {reason}' if reason else ''}")

    def _button(self, label: str, act: Callable[[], object], tip: str = "") -> w.Button:
        button: w.Button = self._parts.button(label, tip=tip)
        button.on_click(lambda _: act())
        return button

    def close(self) -> None:
        """Close all widgets of this view."""
        self._asking.close()
        self._by_hand.close()
        self._parts.close()


def _head_html(call: ServedCall) -> Html:
    patience = call.patience
    clock = f"{call.seconds:.0f} s"
    if patience is not None:
        clock = f"refused in {patience:.0f} s without an answer"
    progress = call.run.progress_view.state.text
    facts = " · ".join(filter(None, (clock, progress)))
    return Html(
        f'<div>{badge(words(call), tone(call))}<span style="{CODE_FONT};overflow-wrap:anywhere">'
        f'{short(subject(call), _BRIEF)}</span> <span style="{REMARK}">{escape(facts)}</span></div>'
    )


# Characters of the call
_BRIEF = 200
# The last lines that the tool printed
_LINES = 8
# Characters of these lines
_LIMIT = 2_000
