"""Hide secrets in error messages, even if a library has cut out their middle or end."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolbench.redaction.redactor import Redactor

CUTS = (b"...", "…".encode())
"""The ellipses that libraries put in place of the middle or end of a long value."""


class CutSecrets:
    """Hides secrets, and also the beginning or end of a secret next to an ellipsis."""

    def __init__(self, redactor: "Redactor") -> None:
        """Hide the secrets of *redactor*."""
        self._redactor = redactor
        self.data, self.text = redactor.data, redactor.cut_text

    def occurs_in(self, text: str | bytes) -> bool:
        """Tell whether *text* has a secret, or a beginning or end of a secret next to an ellipsis."""
        if isinstance(text, str):
            return self.text(text) != text
        return self._redactor.occurs_in(text)

    def may_occur_in(self, data: bytes) -> bool:
        """Do the same as `Redactor.may_occur_in`; next to an ellipsis, a part of a secret may be."""
        return any(cut in data for cut in CUTS) or self._redactor.may_occur_in(data)
