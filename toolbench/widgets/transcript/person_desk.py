"""A view for a person who answers as the model: the request, the tools, and fields for the answer."""

import json
from concurrent.futures import Future
from functools import partial
from typing import Any

import ipywidgets as w

from toolbench.agent.requests import SentRequest
from toolbench.display.css import REMARK
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.llm.models import Answer
from toolbench.llm.models.person import PersonRequest
from toolbench.runs.control import Cancellable
from toolbench.runs.dialogue import settle
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, put

_TEXT_ONLY = "no tool: text alone"
# Characters of the messages
_LIMIT = 50_000


class PersonDesk:
    """The part of a panel in which a person answers as the model of a conversation."""

    def __init__(self, parts: Parts) -> None:
        """Make the widget. It is empty until the agent asks the model."""
        self.widget = parts.column(kind="toolbench-question")

    def __call__(self, request: PersonRequest, cancel: Cancellable) -> Answer:
        """Show *request*, wait for the answer of the person, and return the answer.

        When *cancel* is cancelled, return an empty answer.
        """
        answer: Future[Answer] = Future()
        desk = _RequestView(request, answer)
        self.widget.children = desk.widgets
        forget = cancel.on_cancel(partial(settle, answer, request.answer("")))
        try:
            return answer.result()
        finally:
            forget()
            self.widget.children = ()
            desk.close()


class _RequestView:
    """The view of one request, with the fields for its answer."""

    def __init__(self, request: PersonRequest, answer: "Future[Answer]") -> None:
        self._request, self._answer = request, answer
        self._parts = parts = Parts()
        # By the name of the tool: another choice keeps what was typed
        self._forms: dict[str, SchemaForm] = {}
        names = request.tool_names
        self._tool = parts.chooser("Tool you call", [_TEXT_ONLY, *names])
        self._tool.observe(lambda change: self._choose(change["new"]), "value")
        self._text = parts.make(w.Textarea, "toolbench-prose", description="What you say")
        self._fields, self._notice = parts.column(), parts.html()
        send = parts.button("Answer for the model", look="primary")
        send.on_click(lambda _: self._send())
        self.widgets = [
            parts.html(_request_html(request)),
            *([self._tool] if names else []),
            *(self._fields, self._text, self._notice, parts.row(send)),
        ]

    def close(self) -> None:
        for form in self._forms.values():
            form.close()
        self._parts.close()

    def _choose(self, name: str) -> None:
        if name == _TEXT_ONLY:
            self._fields.children = ()
            return
        if name not in self._forms:
            form = SchemaForm(dict(self._request.schema(name)))
            self._forms[name] = form
        self._fields.children = (self._forms[name].widget,)

    def _send(self) -> None:
        form, text = self._forms.get(self._tool.value), self._text.value
        if form is None:
            if text.strip():
                settle(self._answer, self._request.answer(text))
            else:
                sentence = "Choose a tool, or write what the model says."
                put(self._notice, notice(sentence, "warning"))
        elif form.errors or form.blocked:
            form.reveal_errors(focus=True)
        else:
            call = (self._tool.value, form.value)
            settle(self._answer, self._request.answer(text, [call]))


def _request_html(request: PersonRequest) -> Html:
    """Return the request that a model would get: the messages, and after a click the rest."""
    messages = "".join(_message_html(message) for message in request.messages)
    sent = SentRequest(request.messages, request.tools, "you", request.provider)
    return Html(
        f'<div role="group" aria-label="What the model is sent"><div style="{REMARK}">You are the '
        f"model. This is all that it is sent: {escape(sent.summary)}.</div>"
        f'<div tabindex="0" style="max-height:22em;overflow:auto">{messages}</div>'
        f"{sent.to_html()}</div>"
    )


def _message_html(message: Any) -> Html:
    content = message.get("content")
    is_plain = isinstance(content, str) and not message.get("tool_calls")
    rest = {key: value for key, value in message.items() if key != "role"}
    text = content if is_plain else json.dumps(rest, ensure_ascii=False, default=str)
    return Html(
        f'<div {NO_MATHS} style="white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0">'
        f"<strong>{escape(str(message.get('role')))}</strong> {escape(text[:_LIMIT])}</div>"
    )
