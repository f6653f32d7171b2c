"""What waits for the user in a conversation: calls to decide on, and requests to answer."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Lock
from typing import Any

import ipywidgets as w

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import ActionEvent
from toolbench.agent.masking import Masking
from toolbench.agent.requests import SentRequest
from toolbench.agent.transcript import masked
from toolbench.core.declarations import Effect
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition, hooks
from toolbench.display.css import CODE_FONT, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice, short
from toolbench.errors import ModelError, ToolbenchError
from toolbench.llm.models import Answer
from toolbench.llm.models.person import PersonRequest
from toolbench.runs.control import Cancellable
from toolbench.runs.dialogue import settle
from toolbench.serving.call_results import output_schema_of
from toolbench.threads import NO_THREADS, have_threads
from toolbench.values import clip, same_json
from toolbench.widgets.form.by_hand import ByHand
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.widgets.kit.ticker import ticker

# Characters of the arguments of a waiting call
_BRIEF = 160
_REASONS: dict[Effect, str] = {
    "destructive": "The tool says that it can delete or overwrite data.",
    "not destructive": "The tool is not read-only: it says that it adds something.",
    "undeclared": "The tool does not say what it changes.",
}
_CANNOT_RUN = "The call cannot run as it is. The model can be sent this:"
_SEND = "Send the error"

Decide = Callable[[Callable[[], object]], object]
"""A function that carries out the user's decision in a separate thread."""


class WaitingCall:
    """The view of a call that waits for the user: run it, edit it, answer it by hand, or refuse it.

    There is a button for each of these actions. A click may show a field below the buttons, for
    example for the reason.
    """

    def __init__(
        self,
        call: ActionEvent,
        number: int,
        conversation: Conversation,
        decide: Decide,
    ) -> None:
        """Show *call*, which waits in *conversation*, with its *number*.

        When the user decides, *decide* is called with a function that carries out the decision. It
        calls this function in a thread.
        """
        self.call, self._conversation, self._decide = call, conversation, decide
        self._parts = parts = Parts()
        self._form: SchemaForm | None = None
        self._name = call.tool_name
        self._by_hand = ByHand(
            self._name,
            answer=self._answer,
            refuse=self._refuse,
            schema=self._output_schema,
        )
        self._run = self._button("Run", self._run_it, look="primary")
        self._error = parts.html()
        buttons = [
            self._run,
            self._button("Edit", self._edit),
            self._button("Answer by hand", self._ask_for_answer),
            self._button("Refuse", self._ask_for_reason, kind="toolbench-refuse"),
        ]
        masking = Masking(conversation.known_secrets)
        shown: Any = masked(call, masking)
        line = parts.html(_line_html(shown, number), kind="toolbench-waiting-line")
        self._reason = parts.html(_reason_html(call))
        self._body, self._notice = parts.column(), parts.html()
        children = [parts.row(line, *buttons), self._reason]
        if shown.thought:
            children.insert(0, parts.html(markdown_html(shown.thought)))
        if call.tool_call.error is not None:
            error = masking.values(str(call.tool_call.error))
            put(self._error, _error_html(error))
            self._name_run(_SEND)
            children.append(self._error)
        children.append(self._body)
        self.widget = parts.column(*children, kind="toolbench-question")
        self.widget.add_class("toolbench-waiting")
        self._stop_listening = hooks.listings.listen(lambda: ticker.watch(self._renew_reason))

    def _renew_reason(self) -> bool:
        """Show the effect that the tool declares now.

        Return False, so that the ticker stops calling this method.
        """
        put(self._reason, _reason_html(self.call))
        return False

    def close(self) -> None:
        """Close all widgets of the view."""
        self._stop_listening()
        if self._form is not None:
            self._form.close()
        self._by_hand.close()
        self._parts.close()

    def _button(
        self, label: str, act: Callable[[], object], *, look: str = "", kind: str = ""
    ) -> Any:
        tip = f"{label}: {self._name}"
        return self._parts.button(label, act, look=look, tip=tip, kind=kind)

    # --- run and edit -------------------------------------------------------------------

    @property
    def _is_wrong(self) -> bool:
        """Whether the model's call cannot run, and the user has not corrected it yet."""
        form = self._form
        if self.call.tool_call.error is None:
            return False
        return form is None or form.blocked or bool(form.errors)

    def _name_run(self, label: str) -> None:
        if self._run.description != label:
            self._run.description, self._run.tooltip = label, f"{label}: {self._name}"

    def _say_what_run_does(self) -> None:
        """Update the label of the first button after an edit, and hide the error if it is fixed."""
        is_wrong = self._is_wrong
        show_if(self._error, is_shown=is_wrong)
        if is_wrong:
            self._name_run(_SEND)
        else:
            self._name_run("Run with these arguments")

    def _run_it(self) -> None:
        form, arguments = self._form, None
        if form is not None and not self._is_wrong:
            if form.errors or form.blocked:
                form.reveal_errors(focus=True)
                return
            call = self.call.tool_call
            # Arguments that could not be read are empty, which may be what the user wants
            if call.error is not None or not same_json(form.value, call.arguments):
                arguments = form.value

        def run() -> None:
            self._check_shown()
            if arguments is not None:
                self._conversation.edit_pending(self.call.id, arguments)
            self._conversation.run_pending(self.call.id)

        self._decide(run)

    def _check_shown(self) -> None:
        """Raise an error if a cell or another panel has changed the call since the user saw it."""
        if any(
            call.id == self.call.id and call is not self.call for call in self._conversation.pending
        ):
            msg = f"{self._name} was not run: the call was changed meanwhile. It is shown as it is now."
            raise ToolbenchError(msg)

    def _edit(self) -> None:
        tool = _tool_of(self.call)
        if tool is None:
            text = f"There is no tool called {self._name}: answer by hand, or refuse."
            put(self._notice, notice(text, "warning"))
            self._show(self._notice)
            return
        if self._form is None:
            arguments = dict(self.call.tool_call.arguments)
            self._form = SchemaForm(tool.input_schema, arguments, validate=tool.problems)
            if self.call.tool_call.error is not None:
                self._form.reveal_errors()
            self._form.observe(lambda _: self._say_what_run_does())
            self._say_what_run_does()
        self._show(self._form.widget)

    def _output_schema(self) -> Mapping[str, Any] | None:
        """Return the schema that an answer by hand must fit; None if there is no schema."""
        tool = _tool_of(self.call)
        if tool is None:
            return None
        return output_schema_of(tool)

    # --- answer and refuse --------------------------------------------------------------

    def _answer(self, observation: Observation) -> None:
        answer = self._conversation.answer_pending
        self._decide(lambda: answer(self.call.id, observation))

    def _refuse(self, reason: str) -> None:
        words = "The user refused the call."
        if reason:
            words = f"The user refused the call: {reason}"
        refuse = self._conversation.reject_pending
        self._decide(lambda: refuse(words, self.call.id))

    def _ask_for_answer(self) -> None:
        self._by_hand.ask_for_answer()
        self._show(self._by_hand.widget)

    def _ask_for_reason(self) -> None:
        self._by_hand.ask_for_reason()
        self._show(self._by_hand.widget)

    def _show(self, widget: w.Widget) -> None:
        self._body.children = (widget,)


def _tool_of(call: ActionEvent) -> ToolDefinition[Any, Any] | None:
    tool = call.tool_call.tool
    if tool is None:
        return None
    return tool.as_listed()


def _line_html(call: ActionEvent, number: int) -> Html:
    line = ", ".join(
        f"{name}={clip(value, _BRIEF)}" for name, value in call.shown_arguments.items()
    )
    state = badge(f"{number} waits for you", "warning")
    if call.tool_call.security_risk is not None:
        state = Html(state + badge(f"rated {call.tool_call.security_risk.value}", "warning"))
    return Html(
        '<div style="display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline">'
        f"{state}<code>{short(call.tool_name)}</code>"
        f'<span style="{CODE_FONT};{REMARK};overflow-wrap:anywhere">{short(line, _BRIEF)}</span></div>'
    )


def _error_html(error: str) -> Html:
    """Return the error that the model gets if the call is run unchanged."""
    remark = f'<div style="{REMARK};margin:0 0 4px">{_CANNOT_RUN}</div>'
    return Html(remark + notice(error, "danger"))


def _reason_html(call: ActionEvent) -> Html:
    """Return a sentence about the effect of the tool; empty if it only reads or cannot run."""
    if call.tool_call.error is not None:
        return Html("")
    tool = _tool_of(call)
    if tool is None or tool.hints.effect not in _REASONS:
        return Html("")
    return Html(f'<div style="{REMARK}">{_REASONS[tool.hints.effect]}</div>')


# --- to answer as the model -----------------------------------------------------------------

_TEXT_ONLY = "no tool: text alone"
# Characters of the messages
_LIMIT = 50_000


class RequestBox:
    """The part of a panel in which the user plays the model of a conversation."""

    def __init__(self, parts: Parts) -> None:
        """Make the widget. It is empty until the agent asks the model."""
        self.widget = parts.column(kind="toolbench-question")
        self.widget.add_class("toolbench-request")
        # Agents with delegated tasks may ask at the same time
        self._turn = Lock()
        self._shown: _RequestView | None = None

    def show(self, request: PersonRequest, then: Callable[[Answer], object]) -> None:
        """Show *request* in place of the previous one. When the user has answered, call *then*.

        The argument of *then* is the answer.
        """
        if self._shown is not None and self._shown.request == request:
            # Keep what was typed
            return
        self.close()
        self._shown = view = _RequestView(request)
        self.widget.children = view.widgets

        def answered(answer: Future[Answer]) -> None:
            self.close()
            then(answer.result())

        view.answer.add_done_callback(answered)

    def close(self) -> None:
        """Close the request that `show` shows."""
        if self._shown is not None:
            self.widget.children = ()
            self._shown.close()
            self._shown = None

    def __call__(self, request: PersonRequest, cancel: Cancellable) -> Answer:
        """Show *request* when earlier requests are answered, wait for the answer, and return it.

        If *cancel* is cancelled, return an empty answer.

        Raises:
            ModelError: If Python has no threads. The answer could not arrive during the wait.
        """
        if not have_threads():
            msg = f"Nobody can be asked in the middle of the work: {NO_THREADS}."
            raise ModelError(msg)
        with self._turn:
            view = _RequestView(request)
            self.widget.children = view.widgets
            remove = cancel.on_cancel(partial(settle, view.answer, request.answer("")))
            try:
                return view.answer.result()
            finally:
                remove()
                self.widget.children = ()
                view.close()


class _RequestView:
    """The view of one request, with the fields for its answer."""

    def __init__(self, request: PersonRequest) -> None:
        self.request, self.answer = request, Future[Answer]()
        self._parts = parts = Parts()
        # By the name of the tool, so that choosing another one keeps what was typed
        self._forms: dict[str, SchemaForm] = {}
        self._tool = parts.chooser("Tool you call", [_TEXT_ONLY, *request.tool_names])
        self._tool.observe(lambda change: self._choose(change["new"]), "value")
        self._text = parts.make(w.Textarea, "toolbench-prose", description="What you say")
        self._fields, self._notice = parts.column(), parts.html()
        send = parts.button("Answer for the model", self._send, look="primary")
        sent = SentRequest(request.messages, request.tools, "you", request.provider)
        self.widgets = [parts.html(_request_html(sent))]
        if request.tool_names:
            self.widgets.append(self._tool)
        exact = parts.html(sent.exact_html())
        self.widgets += [self._fields, self._text, self._notice, parts.row(send), exact]

    def close(self) -> None:
        for form in self._forms.values():
            form.close()
        self._parts.close()

    def _choose(self, name: str) -> None:
        put(self._notice, Html(""))
        if name == _TEXT_ONLY:
            self._fields.children = ()
            return
        if name not in self._forms:
            self._forms[name] = SchemaForm(dict(self.request.schema(name)))
        self._fields.children = (self._forms[name].widget,)

    def _send(self) -> None:
        form, text = self._forms.get(self._tool.value), self._text.value
        if form is None:
            if text.strip():
                settle(self.answer, self.request.answer(text))
            else:
                sentence = "Choose a tool, or write what the model says."
                put(self._notice, notice(sentence, "warning"))
        elif form.errors or form.blocked:
            form.reveal_errors(focus=True)
        else:
            call = (self._tool.value, form.value)
            settle(self.answer, self.request.answer(text, [call]))


def _request_html(sent: SentRequest) -> Html:
    """Return the parts of a request that matter for an answer: the messages and the tools."""
    messages = "".join(_message_html(message) for message in sent.messages)
    # A third of the window, so that at 160 % the fields below are still visible
    height = "max-height:min(22em, 33vh);overflow:auto"
    return Html(
        f'<div role="group" aria-label="What the model is sent"><div style="{REMARK}">You are the '
        f"model. This is all that it is sent: {escape(sent.summary)}.</div>"
        f'<div tabindex="0" style="{height}">{messages}</div>'
        f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}">{sent.tools_html()}</div>'
        "</div>"
    )


def _message_html(message: Any) -> Html:
    text = message.get("content")
    if not isinstance(text, str) or message.get("tool_calls"):
        rest = {key: value for key, value in message.items() if key != "role"}
        text = json.dumps(rest, ensure_ascii=False, default=str)
    return Html(
        f'<div {NO_MATHS} style="white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0">'
        f"<strong>{escape(str(message.get('role')))}</strong> {escape(text[:_LIMIT])}</div>"
    )
