"""The editor of a secret: a password box whose text stays in the kernel and is never shown."""

from collections.abc import Iterable
from typing import Any

from ipywidgets import Password

from toolbench.redaction import MARK
from toolbench.widgets.fields.text.text_box import (
    Line,
    UnreadableError,
    read_number,
    write_number,
)


class Secret(Line):
    """A password box that is emptied as soon as its text has arrived.

    The secret is never part of a widget's state, so no saved notebook holds it.
    """

    kind = Password
    # A wider editor would show the secret
    wider = None

    @property
    def _is_number(self) -> bool:
        return self.node.type in ("integer", "number")

    def parse(self, text: str) -> Any:
        """Return *text*, or its number if the schema requires a number.

        Raises:
            UnreadableError: If the schema requires a number and *text* is none.
        """
        if not self._is_number:
            return text
        try:
            return read_number(text, self.node.type)
        except UnreadableError:
            # The message of this error quotes the text
            msg = "This is not a number."
            raise UnreadableError(msg) from None

    def render(self, value: Any) -> str | None:
        """Return the text for *value*; None if *value* has not the type that the schema requires."""
        if self._is_number:
            return write_number(value)
        return value if isinstance(value, str) else None

    def display(self, text: str) -> str:
        """Return an empty text, so that the secret is not shown."""
        return ""

    @property
    def ghost(self) -> str:
        """The placeholder. It tells whether there is a secret, but shows no part of the secret."""
        return f"{MARK} (type to replace it)" if self.text else super().ghost

    def options(self) -> dict[str, Any]:
        """Return the traits with which the box sends its text only when the text is complete.

        Without them, the box would send its text after each key, and each text that
        arrives empties the box.
        """
        return {"continuous_update": False}

    def _typed(self) -> None:
        if self.widget.value:
            super()._typed()
            self.put(self.text)

    def masked(self) -> Any:
        """Return a mark in place of the secret; `UNSET` if there is no secret."""
        return MARK if self.text else self.read()

    def secrets(self) -> Iterable[str]:
        """Return the secret as the only item; empty if there is no secret."""
        return (self.text,) if self.text else ()
