"""Secrets of which a library has cut the middle or the end: in what an error says."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolbench.redaction.redactor import Redactor

CUTS = (b"...", "…".encode())
"""What libraries put in the place of the middle, or the end, of a long value."""


class CutSecrets:
    """Replaces secrets, and their beginnings and ends beside an ellipsis."""

    def __init__(self, redactor: "Redactor") -> None:
        """Replace what *redactor* knows."""
        self._redactor = redactor
        self.data, self.text = redactor.data, redactor.cut_text

    def occurs_in(self, text: str | bytes) -> bool:
        """Tell whether a secret stands in *text*, or an end of one beside an ellipsis."""
        if isinstance(text, str):
            return self.text(text) != text
        return self._redactor.occurs_in(text)
