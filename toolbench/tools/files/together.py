"""Change several files: either all of them or none."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from toolbench.tools.failure_sentence import readable, run_error
from toolbench.tools.files import disk
from toolbench.tools.files.entry import Entry


@dataclass(frozen=True, slots=True)
class FileChange:
    """A planned change of a file.

    `data` is the new content. If it is `None`, the file is removed. `expected` is the stamp that
    the file must still have. If it is `None`, the file must not exist yet.
    """

    entry: Entry
    data: bytes | None
    expected: disk.Stamp | None
    like: Entry
    """The file from which owner, group, mode and attributes are copied."""


@dataclass(frozen=True, slots=True)
class _Staged:
    """A temporary file with the new content of a file, in the same directory."""

    beside: Path
    is_alike: bool
    """Whether the temporary file can replace the file; if not, the file is written in place."""


def change_together(changes: Sequence[FileChange]) -> None:
    """Make all *changes*, or none if one of them fails.

    First, all new contents are written to temporary files. Then the temporary files are renamed.
    If a step fails, the earlier steps are undone.

    Raises:
        RunError: If a file cannot be written, or was changed after it was read.
    """
    path = ""
    done = ExitStack()
    try:
        with ExitStack() as undo:
            staged = []
            for change in changes:
                path = readable(str(change.entry.raw_path))
                staged.append(_staged(change, undo))
            for change, new in zip(changes, staged, strict=True):
                path = readable(str(change.entry.raw_path))
                disk.check_unchanged(change.entry, change.expected)
                _swap(change, new, undo, done)
            undo.pop_all()
            # All changes are done; only an old copy may be left
            with suppress(OSError):
                done.close()
    except OSError as error:
        raise run_error(error, f"write {path}") from None


def _staged(change: FileChange, undo: ExitStack) -> _Staged | None:
    """Write the new content to a temporary file; return None if *change* removes the file."""
    if change.data is None:
        return None
    disk.check_size(change.data)
    disk.check_writable(change.entry)
    disk.make_folders(change.entry)
    beside = change.entry.beside()
    undo.callback(beside.unlink, missing_ok=True)
    is_alike = disk.fill(beside, change.data, like=change.like)
    return _Staged(beside, is_alike or change.expected is None)


def _swap(
    change: FileChange,
    new: _Staged | None,
    undo: ExitStack,
    done: ExitStack,
) -> None:
    """Replace the old file with the temporary file *new*, or remove it if *new* is None.

    Until all changes are made, a copy of the old file is kept, to undo *change*.
    """
    entry = change.entry
    if new is not None and not new.is_alike and change.data is not None:
        old = disk.read(entry).data
        disk.write_in_place(entry, change.data)
        undo.callback(disk.write_in_place, entry, old)
        done.callback(new.beside.unlink)
        return
    if change.expected is not None:
        spare = entry.beside()
        done.callback(spare.unlink, missing_ok=True)
        undo.callback(spare.unlink, missing_ok=True)
        try:
            spare.hardlink_to(entry.path)
        except (OSError, NotImplementedError):
            # A file system, or a page's Python, without hard links
            disk.fill(spare, disk.read(entry).data, like=entry)
        undo.callback(spare.replace, entry.path)
    if new is None:
        entry.path.unlink()
    else:
        disk.put_in_place(new.beside, entry, is_new=change.expected is None)
        if change.expected is None:
            # Not before: another program may have made a file there, which is its own
            undo.callback(entry.path.unlink, missing_ok=True)
        done.callback(new.beside.unlink, missing_ok=True)
