"""A secret: typed into a password box, kept in the kernel, shown nowhere again."""

from collections.abc import Iterable
from typing import Any

from ipywidgets import Password

from toolbench.redaction import MARK
from toolbench.widgets.fields.text.number import read_number, write_number
from toolbench.widgets.fields.text.text_box import Line, UnreadableError


class Secret(Line):
    """A password box that is emptied as soon as its text has arrived.

    The secret is never part of a widget's state, so no saved notebook holds it.
    """

    kind = Password
    wider = None  # none that shows it

    @property
    def _is_number(self) -> bool:
        return self.node.type in ("integer", "number")

    def parse(self, text: str) -> Any:
        """The draft is the value, or the number it says."""
        if not self._is_number:
            return text
        try:
            return read_number(text, self.node.type)
        except UnreadableError:  # its sentence quotes the draft
            msg = "This is not a number."
            raise UnreadableError(msg) from None

    def render(self, value: Any) -> str | None:
        """Hold any text, or any number where one is asked for: none is shown."""
        if self._is_number:
            return write_number(value)
        return value if isinstance(value, str) else None

    def display(self, text: str) -> str:
        """Show nothing of the secret."""
        return ""

    @property
    def ghost(self) -> str:
        """Say that there is a secret, and no more."""
        return f"{MARK} (type to replace it)" if self.text else super().ghost

    def options(self) -> dict[str, Any]:
        """Wait for the whole text: the box is emptied when it arrives."""
        return {"continuous_update": False}

    def _typed(self) -> None:
        if self.widget.value:
            super()._typed()
            self.put(self.text)

    def masked(self) -> Any:
        """Tell only whether there is a secret."""
        return MARK if self.text else self.read()

    def secrets(self) -> Iterable[str]:
        """Give the secret."""
        return (self.text,) if self.text else ()
