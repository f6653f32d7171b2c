"""Undo an edit from its recorded observation, without the editor that made it."""

import re
from dataclasses import dataclass
from typing import Any, Self

from toolbench.redaction import MARK
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.textfile import TextFile

_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")
"""The escape that `readable` writes for a byte that is not text."""


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """The text of a file before an edit (`None`: no file), and after it."""

    before: str | None
    after: str

    @classmethod
    def of(cls, observation: Any) -> Self:
        """Return the edit that *observation* describes.

        Raises:
            RunError: If it does not have the text.
        """
        after = getattr(observation, "new_content", None)
        if after is None:
            msg = "The text was too long, and was not kept; nothing was undone."
            raise RunError(msg)
        return cls(observation.old_content, after)

    def data_before(self, now: TextFile) -> bytes | None:
        """Return the old bytes of the file, whose text is *now*; `None` if it did not exist.

        Raises:
            RunError: If the file was changed again, or its old bytes are not known exactly.
        """
        if MARK in f"{self.before}{self.after}":
            msg = "There was a secret in the text, which was not kept; nothing was undone."
            raise RunError(msg)
        if now.errors != "strict" or now.text != self.after:
            msg = "The file was changed by something else since, or is no plain text; nothing was undone."
            raise RunError(msg)
        if self.before is None:
            return None
        if _ESCAPED.findall(self.before) != _ESCAPED.findall(self.after):
            msg = "There were bytes in the file that are no text; nothing was undone."
            raise RunError(msg)
        is_ambiguous = now.text.isascii() and not now.bom
        if is_ambiguous and not self.before.isascii():
            msg = "The encoding that the file had is not known any more; nothing was undone."
            raise RunError(msg)
        return now.encode(self.before)
