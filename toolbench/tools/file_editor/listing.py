"""List a directory two levels deep, as a model sees it."""

import os
from pathlib import Path

from toolbench.tools.failure import readable, run_error

MAX_ENTRIES = 1_000
"""The most entries that are listed."""


def listing(directory: Path) -> str:
    """Return the visible entries of *directory* and of its directories, a line each.

    Directories end in `/`. Links are shown with where they lead, and not followed.

    Raises:
        RunError: If the directory itself cannot be read.
    """
    try:
        entries = _sorted(directory)
    except OSError as error:
        raise run_error(error, f"list {readable(str(directory))}") from None
    hidden = sum(entry.name.startswith(".") for entry in entries)
    lines = [line for entry in entries for line in _lines(entry)]
    shown = [readable(line) for line in lines[:MAX_ENTRIES]]
    return "\n".join([_head(directory, hidden, len(lines)), *shown])


def _head(directory: Path, hidden: int, total: int) -> str:
    head = f"{readable(str(directory)).rstrip('/')}/, two levels deep"
    if hidden:
        head += f", {hidden:,} hidden left out"
    if total > MAX_ENTRIES:
        head += f", the first {MAX_ENTRIES:,} of {total:,} entries (view a directory below it for more)"
    return head + (":" if total else ": empty")


def _lines(entry: os.DirEntry[str]) -> list[str]:
    if entry.name.startswith("."):
        return []
    if not entry.is_dir(follow_symlinks=False):
        return [_line(entry)]
    try:
        below = [_line(e) for e in _sorted(entry.path) if not e.name.startswith(".")]
    except OSError as error:
        return [f"{entry.path}/ ({(error.strerror or 'unreadable').lower()})"]
    return [f"{entry.path}/", *below]


def _line(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.path} -> {Path(entry.path).readlink()}"
    return f"{entry.path}/" if entry.is_dir() else entry.path


def _sorted(directory: Path | str) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)
