"""A call that waits for a person, who can run it, edit it, answer it by hand, or refuse it."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as w

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import ActionEvent
from toolbench.core.declarations import Effect
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition, hooks
from toolbench.display.css import CODE_FONT, REMARK
from toolbench.display.escape import Html
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice, short
from toolbench.serving.call_results import output_schema_of
from toolbench.values import clip, same_json
from toolbench.widgets.form.by_hand import ByHand
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.kit.ticker import ticker

# Characters of the arguments
_BRIEF = 160
_REASONS: dict[Effect, str] = {
    "destructive": "The tool says that it can delete or overwrite data.",
    "not destructive": "The tool is not read-only: it says that it adds something.",
    "undeclared": "The tool does not say what it changes.",
}
_CANNOT_RUN = "The call cannot run as it is. Run sends the model this:"

Decide = Callable[[Callable[[], object]], object]
"""A function that carries out a person's decision in a separate thread."""


class WaitingCall:
    """The view of a waiting call: buttons, and below them the fields of the button pressed last.

    The fields are to edit the call, to answer it by hand, or to refuse it with a
    reason.
    """

    def __init__(
        self,
        call: ActionEvent,
        number: int,
        conversation: Conversation,
        decide: Decide,
    ) -> None:
        """Show *call*, which waits in *conversation* and is shown with *number*.

        *decide* is a function that carries out the decision of the person.
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
        buttons = [
            self._run,
            self._button("Edit", self._edit),
            self._button("Answer by hand", self._ask_for_answer),
            self._button("Refuse", self._ask_for_reason, kind="toolbench-refuse"),
        ]
        self._body, self._notice = parts.column(), parts.html()
        error = call.tool_call.error
        wrong = [] if error is None else [parts.html(_error_html(str(error)))]
        thought = [parts.html(markdown_html(call.thought))] if call.thought else []
        line = parts.html(_line_html(call, number), kind="toolbench-waiting-line")
        self._reason = parts.html(_reason_html(call))
        self._forget = hooks.listings.listen(lambda: ticker.watch(self._renew_reason))
        self.widget = parts.column(
            *thought,
            parts.row(line, *buttons),
            *(self._reason, *wrong, self._body),
            kind="toolbench-question",
        )
        self.widget.add_class("toolbench-waiting")

    def _renew_reason(self) -> bool:
        """Say what the tool declares now; return False, which ends a watch."""
        put(self._reason, _reason_html(self.call))
        return False

    def close(self) -> None:
        """Close all widgets of the view."""
        self._forget()
        if self._form is not None:
            self._form.close()
        self._by_hand.close()
        self._parts.close()

    def _button(
        self, label: str, act: Callable[[], object], *, look: str = "", kind: str = ""
    ) -> w.Button:
        button: w.Button = self._parts.button(label, look=look, kind=kind)
        button.tooltip = f"{label}: {self._name}"
        button.on_click(lambda _: act())
        return button

    # --- run and edit -------------------------------------------------------------------

    def _run_it(self) -> None:
        form, arguments = self._form, None
        if form is not None:
            if form.errors or form.blocked:
                form.reveal_errors(focus=True)
                return
            if not same_json(form.value, self.call.tool_call.arguments):
                arguments = form.value

        def run() -> None:
            if arguments is not None:
                self._conversation.edit_pending(self.call.id, arguments)
            self._conversation.run_pending(self.call.id)

        self._decide(run)

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
            self._run.description = "Run with these arguments"
        self._show(self._form.widget)

    def _output_schema(self) -> Mapping[str, Any] | None:
        """Return the schema that an answer in place of the tool must fit; None if there is no schema."""
        tool = _tool_of(self.call)
        return None if tool is None else output_schema_of(tool)

    # --- answer and refuse --------------------------------------------------------------

    def _answer(self, observation: Observation) -> None:
        answer = self._conversation.answer_pending
        self._decide(lambda: answer(self.call.id, observation))

    def _refuse(self, reason: str) -> None:
        words = f"The person refused the call{f': {reason}' if reason else '.'}"
        refuse = self._conversation.reject_pending
        self._decide(lambda: refuse(words, self.call.id))

    def _ask_for_answer(self) -> None:
        self._by_hand.ask_for_answer()
        self._show(self._by_hand.widget)

    def _ask_for_reason(self) -> None:
        self._by_hand.ask_for_reason()
        self._show(self._by_hand.widget)

    def _show(self, *widgets: w.Widget) -> None:
        self._body.children = widgets


def _tool_of(call: ActionEvent) -> ToolDefinition[Any, Any] | None:
    tool = call.tool_call.tool
    return None if tool is None else tool.as_listed()


def _line_html(call: ActionEvent, number: int) -> Html:
    line = ", ".join(
        f"{name}={clip(value, _BRIEF)}" for name, value in call.shown_arguments.items()
    )
    risk = call.tool_call.security_risk
    rated = badge(f"rated {risk.value}", "warning") if risk is not None else ""
    state = badge(f"{number} waits for you", "warning")
    return Html(
        '<div style="display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline">'
        f"{state}{rated}<code>{short(call.tool_name)}</code>"
        f'<span style="{CODE_FONT};{REMARK};overflow-wrap:anywhere">{short(line, _BRIEF)}</span></div>'
    )


def _error_html(error: str) -> Html:
    """Return what the model reads if the call, which has an *error*, is run unchanged."""
    remark = f'<div style="{REMARK};margin:0 0 4px">{_CANNOT_RUN}</div>'
    return Html(remark + notice(error, "danger"))


def _reason_html(call: ActionEvent) -> Html:
    """Return a sentence about the effect of the tool; empty if it only reads or cannot run."""
    tool = _tool_of(call) if call.tool_call.error is None else None
    reason = _REASONS.get(tool.hints.effect, "") if tool is not None else ""
    return Html(f'<div style="{REMARK}">{reason}</div>') if reason else Html("")
