"""The old content of edited files, from which an editor undoes its edits."""

from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from toolbench.tools.files.disk import Stamp

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
