"""Fields in which the user answers a call by hand, or refuses the call with a reason."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as w

from toolbench.core.coercion import ResultObservation, contents_of
from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.serving.result_schema import unwrapped
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts


class ByHand:
    """The fields for an answer or a refusal, which appear after a click on a button."""

    def __init__(
        self,
        name: str,
        *,
        answer: Callable[[Observation], object],
        refuse: Callable[[str], object],
        schema: Callable[[], Mapping[str, Any] | None],
    ) -> None:
        """Make the fields for a call of the tool *name*. They are not shown yet.

        Args:
            name: The name of the tool.
            answer: A function that is called with the answer.
            refuse: A function that is called with the reason, which may be empty.
            schema: A function that returns the schema of the tool's structured results; None if the
                tool has none. It is called when the user asks to answer.
        """
        self._name, self._answer, self._refuse = name, answer, refuse
        self._schema = schema
        self._parts = Parts()
        self._form: SchemaForm | None = None
        # Made once, so that they keep what was typed
        self._answer_fields: list[w.Widget] = []
        self._reason_fields: list[w.Widget] = []
        self._send_reason: Any = None
        self.widget = self._parts.column()

    def ask_for_answer(self) -> None:
        """Show the fields in which the user types an answer that replaces the tool's result."""
        if not self._answer_fields:
            self._answer_fields = self._make_answer_fields()
        self.widget.children = self._answer_fields

    def ask_for_reason(self, label: str = "Refuse it") -> None:
        """Show a field for the reason of a refusal, and a button with the text *label*."""
        if not self._reason_fields:
            text = self._parts.make(w.Text, "toolbench-field", description="Why not")
            self._send_reason = self._button(label, lambda: self._refuse(text.value.strip()))
            self._reason_fields = [self._parts.row(text, self._send_reason)]
        self._send_reason.description = label
        self._send_reason.tooltip = self._tip(label)
        self.widget.children = self._reason_fields

    def _make_answer_fields(self) -> list[w.Widget]:
        label = f"Result in place of {self._name}"
        text = self._parts.make(w.Textarea, "toolbench-prose", description=label)
        is_error = self._parts.make(
            w.Checkbox, "toolbench-remember", description="It failed", indent=False
        )
        form = self._result_form()

        def send() -> None:
            if form is None or is_error.value:
                result = Observation.from_text(text.value, is_error=is_error.value)
            elif form.errors or form.blocked:
                form.reveal_errors(focus=True)
                return
            else:
                result = self._result(form.value, text.value)
            self._answer(result)

        send_row = self._parts.row(self._button("Give this answer", send), is_error)
        if form is None:
            return [text, send_row]
        return [form.widget, text, send_row]

    def _result(self, value: dict[str, Any], text: str) -> Observation:
        """Return *value* as the tool's result.

        The model sees *text* or, if *text* is empty, *value* as JSON text.
        """
        content = contents_of(unwrapped(self._schema() or {}, value))
        if text:
            content = [TextContent(text=text)]
        return ResultObservation(content=content, result=value)

    def _result_form(self) -> SchemaForm | None:
        """Return a form for a structured result; None if the tool has no structured results."""
        if (schema := self._schema()) is not None:
            self._form = SchemaForm(dict(schema))
        return self._form

    def _button(self, label: str, act: Callable[[], object]) -> Any:
        button = self._parts.button(label, tip=self._tip(label))
        button.on_click(lambda _: act())
        return button

    def _tip(self, label: str) -> str:
        return f"{label}: {self._name}"

    def close(self) -> None:
        """Close all widgets of these fields."""
        if self._form is not None:
            self._form.close()
        self._parts.close()
