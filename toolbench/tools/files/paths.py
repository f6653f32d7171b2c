"""Which file a model means by a path, and whether it may have it."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from toolbench.tools.failure import RunError, readable


def working_dir_of(conv_state: Any, given: str | Path | None = None) -> Path:
    """Return the directory tools work in: *given*, else the state's, else the current one."""
    if given is None and conv_state is not None:
        given = conv_state.workspace.working_dir
    return Path(given or ".").absolute()


def check_path(path: str) -> None:
    """Check that *path* can be one at all.

    Raises:
        RunError: If it is empty, or has characters no path can have.
    """
    try:
        impossible = not path or b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        impossible = True
    if impossible:
        msg = f"{path!r} is no path. Give the path of a file."
        raise RunError(msg)


class Places:
    """Paths as seen from a working directory, and confined to a root if there is one."""

    def __init__(self, working_dir: Path, root: Path | None = None) -> None:
        """Resolve paths for *working_dir*; refuse what is outside *root*, links followed."""
        self.working_dir = working_dir
        self.root = None if root is None else Path(os.path.realpath(root))

    def absolute(self, path: str) -> Path:
        """Return *path*, which must be absolute.

        Raises:
            RunError: If it is relative, outside the root, or no path at all.
        """
        check_path(path)
        asked = Path(path)
        if not asked.is_absolute():
            msg = f"{path!r} is not an absolute path.{self._instead(asked)}"
            raise RunError(msg)
        self.check_inside(asked)
        return asked

    def check_inside(self, path: Path) -> None:
        """Refuse *path* if its links lead out of the root.

        Raises:
            RunError: If they do.
        """
        real = Path(os.path.realpath(path))
        if self.root is not None and not real.is_relative_to(self.root):
            msg = (
                f"{readable(str(path))} is outside the workspace. "
                f"Give a path inside {readable(str(self.root))}."
            )
            raise RunError(msg)

    def missing(self, path: Path) -> RunError:
        """Return what to say of *path*, which does not exist: with what may have been meant."""
        near = [
            readable(str(found))
            for found in (self.working_dir / str(path).lstrip("/"), *_namesakes(path))
            if found != path and os.path.lexists(found)
        ]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        hint = hint or " View the directory above it to see what is there."
        return RunError(f"{readable(str(path))} does not exist.{hint}")

    def _instead(self, asked: Path) -> str:
        candidate = self.working_dir / os.path.expanduser(asked)  # noqa: PTH111 - Path's raises for ~nobody
        if candidate.exists():
            return f" Did you mean {readable(str(candidate))!r}?"
        return f" Paths begin with /: the working directory is {readable(str(self.working_dir))!r}."


def _namesakes(path: Path) -> Iterator[Path]:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return
    for name in get_close_matches(path.name, names, n=2, cutoff=0.75):
        yield path.parent / name
