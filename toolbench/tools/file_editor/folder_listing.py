"""List a directory two levels deep, for a model."""

import os
from pathlib import Path

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
    lines = []
    try:
        entries = _sorted(directory.path)
        for entry in entries:
            lines += _lines(path.rstrip("/"), entry)
    except OSError as error:
        raise run_error(error, f"list {readable(path)}") from None
    hidden = sum(entry.name.startswith(".") for entry in entries)
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


def _lines(path: str, entry: os.DirEntry[str]) -> list[str]:
    """Return the lines for *entry*, which is in the directory *path*."""
    if entry.name.startswith("."):
        return []
    if not entry.is_dir(follow_symlinks=False):
        return [_line(path, entry)]
    here = f"{path}/{entry.name}"
    try:
        entries = [below for below in _sorted(entry.path) if not below.name.startswith(".")]
        return [f"{here}/", *(_line(here, below) for below in entries)]
    except OSError as error:
        return [f"{here}/ ({(error.strerror or 'unreadable').lower()})"]


def _line(path: str, entry: os.DirEntry[str]) -> str:
    here = f"{path}/{entry.name}"
    if entry.is_symlink():
        return f"{here} -> {os.readlink(entry.path)}"  # noqa: PTH115 - a text
    if entry.is_dir(follow_symlinks=False):
        here += "/"
    return here


def _sorted(directory: str | Path) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)
