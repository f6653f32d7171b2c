"""Change several files, all of them or none."""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from toolbench.tools.failure import readable, run_error
from toolbench.tools.files import disk


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a file will hold, `None`: it will be gone; and its stamp, `None`: it is not there."""

    path: Path
    data: bytes | None
    expected: disk.Stamp | None
    like: Path
    """The file whose owner and mode it gets."""


def change_together(changes: Sequence[FileChange]) -> None:
    """Make all *changes*. First every new file is written beside its place, then all are moved.

    If one of these steps fails, those before it are taken back.

    Raises:
        RunError: If a file cannot be written, or was changed since it was read.
    """
    path = Path()
    done = ExitStack()
    try:
        with ExitStack() as undo:
            staged = []
            for change in changes:
                path = change.path
                staged.append(_staged(change, undo))
            for change, beside in zip(changes, staged, strict=True):
                path = change.path
                disk.check_unchanged(path, change.expected)
                _swap(change, beside, undo, done)
            undo.pop_all()
    except OSError as error:
        msg = f"write {readable(str(path))}"
        raise run_error(error, msg) from None
    done.close()


def _staged(change: FileChange, undo: ExitStack) -> Path | None:
    """Write the new file beside its place, and return where."""
    if change.data is None:
        return None
    for directory in reversed(change.path.parents):
        if not directory.exists():
            directory.mkdir()
            undo.callback(directory.rmdir)
    beside = disk.beside_of(change.path)
    undo.callback(beside.unlink, missing_ok=True)
    disk.check_writable(change.path)
    disk.fill(beside, change.data, like=change.like)
    return beside


def _swap(
    change: FileChange, beside: Path | None, undo: ExitStack, done: ExitStack
) -> None:
    """Put the new file in its place; the old one is kept until all are done."""
    if change.expected is None:
        undo.callback(change.path.unlink, missing_ok=True)
    else:
        kept = disk.beside_of(change.path)
        try:
            os.link(change.path, kept)
        except OSError:  # a file system without hard links
            shutil.copy2(change.path, kept)
        done.callback(kept.unlink, missing_ok=True)
        undo.callback(kept.replace, change.path)
    if beside is None:
        change.path.unlink()
    else:
        beside.replace(change.path)
