"""Undo edits of files: from the old content that an editor keeps, or from the record of an edit."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Self

from toolbench.redaction import MARK
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.disk import Stamp
from toolbench.tools.files.textfile import TextFile

DEPTH = 10
"""The number of edits of one file that can be undone."""
MAX_BYTES = 64 * 1024 * 1024
"""The most bytes that are kept of all files together; the oldest edits are dropped first."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """One edit of a file: the content before the edit, and the stamps before and after it.

    The content and the stamp before the edit are `None` if the file did not exist. The stamp after
    the edit is `left`.
    """

    path: Path
    before: bytes | None
    stamp_before: Stamp | None
    left: Stamp | None
    action: object = None
    """The action that asked for the edit."""


class History:
    """The edits of one editor, oldest first, for the lifetime of the editor."""

    def __init__(self) -> None:
        """Make an empty history."""
        self._edits: list[Edit] = []
        self._lock = Lock()

    def add(self, edit: Edit) -> None:
        """Add *edit*, and drop the oldest edits if there are more than DEPTH or MAX_BYTES allow."""
        with self._lock:
            self._edits.append(edit)
            of_file = [e for e in self._edits if e.path == edit.path]
            for old in of_file[:-DEPTH]:
                self._edits.remove(old)
            while sum(len(e.before or b"") for e in self._edits) > MAX_BYTES:
                del self._edits[0]

    def last(self, path: Path) -> Edit | None:
        """Return the last edit of the file at *path*; None if there is none."""
        with self._lock:
            return self._last(path)

    def has(self, action: object) -> bool:
        """Tell whether the history has an edit that *action* asked for."""
        with self._lock:
            return any(edit.action == action for edit in self._edits)

    def _last(self, path: Path) -> Edit | None:
        return next((e for e in reversed(self._edits) if e.path == path), None)

    def forget(self, edit: Edit, stamp: Stamp | None) -> None:
        """Remove *edit* after its undo; *stamp* is the stamp that the file has now.

        After this, the previous edit of the file can be undone, if no other program changed the
        file between the two edits.
        """
        with self._lock:
            # Later edits of other files may have removed it
            if edit in self._edits:
                self._edits.remove(edit)
            previous = self._last(edit.path)
            if previous is not None and previous.left == edit.stamp_before:
                at = self._edits.index(previous)
                self._edits[at] = replace(previous, left=stamp)


_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")
"""The escape that `readable` writes for a byte that is not valid text."""


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """The text of a file before an edit (`None` if there was no file) and the text after the edit."""

    before: str | None
    after: str

    @classmethod
    def of(cls, observation: Any) -> Self:
        """Return the edit that *observation* describes.

        Raises:
            RunError: If *observation* does not have the text after the edit.
        """
        after = getattr(observation, "new_content", None)
        if after is None:
            msg = "The text was too long, and was not kept; nothing was undone."
            raise RunError(msg)
        return cls(observation.old_content, after)

    def data_before(self, now: TextFile) -> bytes | None:
        """Return the bytes that the file had before the edit; `None` if the file did not exist.

        Args:
            now: The present text of the file.

        Raises:
            RunError: If the file was changed again, or its old bytes are not known exactly.
        """
        if MARK in f"{self.before}{self.after}":
            msg = "There was a secret in the text, which was not kept; nothing was undone."
            raise RunError(msg)
        if now.errors != "strict" or now.text != self.after:
            msg = "The file was changed after the edit, or is not plain text; nothing was undone."
            raise RunError(msg)
        if self.before is None:
            return None
        if _ESCAPED.findall(self.before) != _ESCAPED.findall(self.after):
            msg = "There were bytes in the file that are not text; nothing was undone."
            raise RunError(msg)
        is_ambiguous = now.text.isascii() and not now.bom
        if is_ambiguous and not self.before.isascii():
            msg = "The encoding that the file had is not known any more; nothing was undone."
            raise RunError(msg)
        return now.encode(self.before)
