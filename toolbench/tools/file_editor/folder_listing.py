"""List a directory two levels deep, for a model."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from toolbench.tools.failure_sentence import readable, run_error
from toolbench.tools.files.entry import Entry

MAX_ENTRIES = 1_000
"""The highest number of listed entries."""


def listing(directory: Entry) -> str:
    """Return the visible entries of *directory* and of the directories in it, one per line.

    Directories end in `/`. Links are shown with their target, and are not followed.

    Raises:
        RunError: If *directory* itself cannot be read.
    """
    path = str(directory.raw_path)
    try:
        with directory.opened_directory() as descriptor:
            entries = _sorted(descriptor)
            hidden = sum(entry.name.startswith(".") for entry in entries)
            above = path.rstrip("/")
            lines = [line for entry in entries for line in _lines(descriptor, above, entry)]
    except OSError as error:
        raise run_error(error, f"list {readable(path)}") from None
    listed_lines = [readable(line) for line in lines[:MAX_ENTRIES]]
    return "\n".join([_head(path, hidden, len(lines)), *listed_lines])


def _head(directory: str, hidden: int, total: int) -> str:
    head = f"{readable(directory).rstrip('/')}/, two levels deep"
    if hidden:
        head += f", {hidden:,} hidden left out"
    if total > MAX_ENTRIES:
        head += (
            f", the first {MAX_ENTRIES:,} of {total:,} entries (view a directory below it for more)"
        )
    return head + (":" if total else ": empty")


def _lines(above: int, path: str, entry: os.DirEntry[str]) -> list[str]:
    """Return the lines for *entry*, which is in the directory *path*; *above* is its descriptor."""
    if entry.name.startswith("."):
        return []
    if not entry.is_dir(follow_symlinks=False):
        return [_line(above, path, entry)]
    here = f"{path}/{entry.name}"
    try:
        with _below(above, entry.name) as directory:
            entries = [e for e in _sorted(directory) if not e.name.startswith(".")]
            return [f"{here}/", *(_line(directory, here, e) for e in entries)]
    except OSError as error:
        return [f"{here}/ ({(error.strerror or 'unreadable').lower()})"]


def _line(above: int, path: str, entry: os.DirEntry[str]) -> str:
    here = f"{path}/{entry.name}"
    if entry.is_symlink():
        return f"{here} -> {os.readlink(entry.name, dir_fd=above)}"
    return f"{here}/" if entry.is_dir(follow_symlinks=False) else here


@contextmanager
def _below(above: int, name: str) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK
    directory = os.open(name, flags, dir_fd=above)
    try:
        yield directory
    finally:
        os.close(directory)


def _sorted(directory: int) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)
