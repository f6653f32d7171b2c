"""What is written down of an edit, for who takes it back without having made it."""

import re
from dataclasses import dataclass
from typing import Any, Self

from toolbench.redaction import MARK
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.textfile import TextFile

_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")
"""What `readable` writes for a byte that is no text."""


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """The text of a file before an edit (`None`: it was not there), and after it."""

    before: str | None
    after: str

    @classmethod
    def of(cls, observation: Any) -> Self:
        """Return the edit that *observation* tells of.

        Raises:
            RunError: If it does not have both texts.
        """
        after = getattr(observation, "new_content", None)
        if after is None:
            msg = "The text was too long, and was not kept; nothing was undone."
            raise RunError(msg)
        return cls(observation.old_content, after)

    def data_before(self, now: TextFile) -> bytes | None:
        """Return what the file held before, whose text is *now*; `None` if it was not there.

        Raises:
            RunError: If something else changed it since, or if it cannot be known to the byte.
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
