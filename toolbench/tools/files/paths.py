"""Make absolute paths of the paths that a model sends, and refuse paths outside the workspace."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.files.entry import Entry, OutsideError


def working_dir_of(conv_state: Any, folder: str | Path | None = None) -> Path:
    """Return *folder*; if it is None, return the working directory of *conv_state*.

    If both are None, return the current directory. For compatibility with the OpenHands SDK,
    *conv_state* may also be a path.

    Raises:
        ValueError: If the directory has a NUL or another character that no path can contain.
    """
    if folder is None and isinstance(conv_state, str | Path):
        folder = conv_state
    elif folder is None and conv_state is not None:
        folder = conv_state.workspace.working_dir
    check_directory(folder or ".")
    return Path(folder or ".").absolute()


def check_directory(directory: str | Path) -> None:
    """Check that *directory*, which the user gave as an option of a tool, is a possible path.

    Raises:
        ValueError: If *directory* has a NUL or another character that no path can contain.
    """
    if not _can_be_path(directory):
        msg = (
            f"{str(directory)!r} is not a valid directory: no path can have a NUL or half a "
            "character. Give another directory."
        )
        raise ValueError(msg)


def check_path(path: str) -> None:
    """Check that *path*, which a model sent, is a possible path.

    Raises:
        RunError: If *path* is empty, or has a NUL or another character that no path can contain.
    """
    if not path or not _can_be_path(path):
        msg = f"{path!r} is not a path. Give the path of a file."
        raise RunError(msg)


def _can_be_path(path: str | Path) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def resource_of(path: str | Path) -> str:
    """Return the name of the file at *path* for `DeclaredResources`; links are followed."""
    try:
        return f"file:{os.path.realpath(path)}"
    except (OSError, ValueError):
        # Not a path: the call reports it
        return f"file:{path}"


class Places:
    """Finds where the paths that a model sends lead. Paths outside a root directory are refused."""

    def __init__(self, working_dir: Path, root: Path | None = None) -> None:
        """Suggest paths in *working_dir* in messages, and refuse paths outside *root*, if given."""
        self.working_dir = working_dir
        self.root = None if root is None else Path(os.path.realpath(root))

    def absolute(self, path: str) -> Path:
        """Return *path* as a `Path`, and check that it is absolute.

        Raises:
            RunError: If *path* is relative, or cannot be a path.
        """
        check_path(path)
        absolute = Path(path)
        if not absolute.is_absolute():
            msg = f"{path!r} is not an absolute path.{self._instead(absolute)}"
            raise RunError(msg)
        return absolute

    def entry(self, path: Path, *, follow: bool = True, is_new: bool = False) -> Entry:
        """Return the directory entry to which *path* leads; it must be inside the root.

        *follow* and *is_new* have the same meaning as in `Entry.find`.

        Raises:
            RunError: If *path* is outside the root. This is checked before anything is opened.
            OSError: If a directory of *path* is missing or cannot be searched.
        """
        try:
            return Entry.find(path, root=self.root, follow=follow, is_new=is_new)
        except OutsideError:
            msg = (
                f"{readable(str(path))} is outside the workspace. "
                f"Give a path inside {readable(str(self.root))}."
            )
            raise RunError(msg) from None

    def missing(self, path: Path) -> RunError:
        """Return the error that *path* does not exist; it names similar paths that do exist."""
        near = [
            readable(str(candidate))
            for candidate in (
                self.working_dir / str(path).lstrip("/"),
                *self._namesakes(path),
            )
            if candidate != path and self._may_be_meant(candidate)
        ]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        hint = hint or " View the directory above it to see what is there."
        return RunError(f"{readable(str(path))} does not exist.{hint}")

    def _instead(self, path: Path) -> str:
        candidate = self.working_dir / os.path.expanduser(path)  # noqa: PTH111 - Path's method raises for ~nobody
        if self._may_be_meant(candidate):
            return f" Did you mean {readable(str(candidate))!r}?"
        return f" Paths begin with /: the working directory is {readable(str(self.working_dir))!r}."

    def _may_be_meant(self, path: Path) -> bool:
        """Tell whether a message may suggest *path*: it exists, and is inside the root."""
        try:
            return self.entry(path).stat() is not None
        except (OSError, RunError):
            return False

    def _namesakes(self, path: Path) -> Iterator[Path]:
        try:
            names = [sibling.name for sibling in self.entry(path.parent).path.iterdir()]
        except (OSError, RunError):
            return
        for name in get_close_matches(path.name, names, n=2, cutoff=0.75):
            yield path.parent / name
