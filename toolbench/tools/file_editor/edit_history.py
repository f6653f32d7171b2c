"""What files held before they were edited, so that edits can be taken back."""

from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from toolbench.tools.files.disk import Stamp

DEPTH = 10
"""How many edits of one file can be taken back."""
MAX_BYTES = 64 * 1024 * 1024
"""How much is kept of all files together; the oldest edits are forgotten first."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """One edit of a file: its bytes and stamp before (`None`: it was not there), its stamp after."""

    path: Path
    before: bytes | None
    stamp_before: Stamp | None
    left: Stamp | None
    action: object = None
    """What asked for it."""


class History:
    """The edits made by one editor, oldest first. They live as long as it does."""

    def __init__(self) -> None:
        """Begin without edits."""
        self._edits: list[Edit] = []
        self._lock = Lock()

    def add(self, edit: Edit) -> None:
        """Remember *edit*, and forget the oldest ones that are too many or too much."""
        with self._lock:
            self._edits.append(edit)
            of_file = [e for e in self._edits if e.path == edit.path]
            for old in of_file[:-DEPTH]:
                self._edits.remove(old)
            while sum(len(e.before or b"") for e in self._edits) > MAX_BYTES:
                del self._edits[0]

    def last(self, path: Path) -> Edit | None:
        """Return the last edit of *path*, if one is remembered."""
        with self._lock:
            return self._last(path)

    def has(self, action: object) -> bool:
        """Tell whether an edit is remembered that *action* asked for."""
        with self._lock:
            return any(edit.action == action for edit in self._edits)

    def _last(self, path: Path) -> Edit | None:
        return next((e for e in reversed(self._edits) if e.path == path), None)

    def forget(self, edit: Edit, stamp: Stamp | None) -> None:
        """Drop *edit*, which was taken back and left the file with *stamp*.

        The edit before it can be taken back next, if no other program wrote between the two.
        """
        with self._lock:
            if (
                edit in self._edits
            ):  # unless edits of other files were too much meanwhile
                self._edits.remove(edit)
            previous = self._last(edit.path)
            if previous is not None and previous.left == edit.stamp_before:
                at = self._edits.index(previous)
                self._edits[at] = replace(previous, left=stamp)
