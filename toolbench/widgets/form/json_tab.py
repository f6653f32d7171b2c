"""The tab with the whole value as JSON text, to read and to edit."""

from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Textarea, VBox, Widget

from toolbench.display.escape import escape
from toolbench.errors import Problem
from toolbench.redaction.detect import hidden_in, put_back
from toolbench.widgets.fields.raw_json import from_text, to_text
from toolbench.widgets.fields.text_box import UnreadableError
from toolbench.widgets.kit.parts import FORM, INVALID, mark

# The form owns its tab
if TYPE_CHECKING:
    from toolbench.widgets.form.form import SchemaForm

_MAX_ERRORS = 10


class JsonTab:
    """The form's value as JSON text. Edits of fields change the text, and typing changes the fields.

    Text that is not a JSON object stays as a person typed it; `trouble` is the error
    then. Secrets are hidden in the text and unchanged in the value.
    """

    def __init__(self, form: "SchemaForm") -> None:
        self._form = form
        self._typed: str | None = None
        self._leads = False
        self.trouble = ""
        self._area: Any = None
        self._message: Any = None
        self._widget: Widget | None = None

    @property
    def text(self) -> str:
        """The typed text, until a field is edited; else the value as JSON."""
        if self._typed is not None:
            return self._typed
        try:
            return to_text(self._form.masked)
        except (TypeError, ValueError, RecursionError):
            # Not JSON, or too deep
            return "…"

    def put(self, text: str) -> None:
        """Take *text* as the text that a person has typed. If it is a JSON object, write it to the form.

        A blank text counts as the empty object.
        """
        self._typed, self._leads, self.trouble = text, True, ""
        self._form.frame.changed = True
        try:
            value = from_text(text) if text.strip() else {}
        except UnreadableError as reason:
            self.trouble = str(reason)
            return
        if not isinstance(value, dict):
            self.trouble = "The arguments must be an object: { … }."
            return
        secrets = hidden_in(self._form.value, self._form.masked)
        self._form.write(put_back(value, secrets))

    def follow(self) -> None:
        """After an edit of a field, remove the typed text. After an edit of this text, keep it."""
        if not self._leads:
            self._typed, self.trouble = None, ""
        self._leads = False

    def draw(self) -> None:
        """Update the widget."""
        if self._area is not None:
            if self._area.value != self.text:
                self._area.value = self.text
            sentences = self._sentences()
            mark(self._area, INVALID, is_marked=bool(sentences))
            html = "".join(f'<div class="tb-error">{escape(s)}</div>' for s in sentences)
            self._message.value = f'<div role="alert">{html}</div>'

    def close(self) -> None:
        """Stop updating the widget."""
        self._area = None

    def _sentences(self) -> list[str]:
        """Return the errors of the typed text."""
        if self._typed is None:
            return []
        if self.trouble:
            return [self.trouble]
        problems = [Problem(path, message) for path, message in self._form.errors]
        return [str(problem) for problem in problems[:_MAX_ERRORS]]

    @property
    def widget(self) -> Widget:
        """The text box, with its errors below it. It is built on first use."""
        if self._widget is None:
            frame = self._form.frame
            make = frame.pool.make
            self._area = make(
                Textarea,
                "tb-field",
                "tb-area",
                "tb-json",
                description="Arguments as JSON",
                value=self.text,
                # It grows with its text
                rows=8,
            )
            self._message = make(HTML, "tb-note")
            head = make(HTML, value=FORM)
            children = (head, frame.pool.editor_of(self._area), self._message)
            self._widget = make(VBox, "tb-form", children=children)
            frame.hear(self._area, "value", lambda: self.put(self._area.value))
        return self._widget
