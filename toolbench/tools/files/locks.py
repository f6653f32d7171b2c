"""One edit of a file at a time: in this process, and among all that lock files as it does."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from weakref import WeakValueDictionary

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.files.regular_file import open_regular

if sys.platform != "win32":
    import fcntl

PATIENCE = 10.0
"""Seconds to wait for another process that has locked a file."""
_PAUSE = 0.005  # seconds between two looks at a locked file

_locks: WeakValueDictionary[Path, Lock] = WeakValueDictionary()  # while they are held
_looking_up = Lock()


@contextmanager
def held(*paths: Path) -> Iterator[None]:
    """Have the files at *paths*, without links, for oneself: what is read stays until written.

    Those wait for each other who ask here, in any process and by any name of a file: it is
    locked by `flock`. See `disk.check_unchanged` for all others. Where a file cannot be locked
    (it does not exist yet, its file system or this platform has no locks), only this process waits.

    Raises:
        RunError: If another process has one of them locked for longer than PATIENCE.
    """
    # in one order, so that no two wait for each other
    ordered = sorted(set(paths))
    with ExitStack() as stack:
        for path in ordered:
            stack.enter_context(_lock_of(path))
        stack.enter_context(_files_locked(ordered))
        yield


def _lock_of(path: Path) -> Lock:
    with _looking_up:
        return _locks.setdefault(path, Lock())


@contextmanager
def _files_locked(paths: list[Path]) -> Iterator[None]:
    due = monotonic() + PATIENCE
    with ExitStack() as stack:
        while (locked := _locked_elsewhere(paths, stack)) is not None:
            stack.close()  # who waits holds nothing, so that no two wait for each other
            if monotonic() > due:
                msg = (
                    f"{readable(str(locked))} is locked by another program; nothing was "
                    "written. Repeat the edit when that program is done with it."
                )
                raise RunError(msg)
            sleep(_PAUSE)
        yield


def _locked_elsewhere(paths: Iterable[Path], stack: ExitStack) -> Path | None:
    """Lock the files at *paths* until *stack* ends; return the first that is not to be had."""
    ours: set[tuple[int, int]] = set()
    for path in paths:
        with suppress(
            OSError
        ):  # nothing is there, or not for us: the edit itself says so
            file = open_regular(str(path))
            stack.callback(os.close, file)
            inode = _inode(os.fstat(file))
            if inode in ours:
                continue  # another name of the same file
            if not _lock(file, stack) or _inode(path.stat()) != inode:
                return (
                    path  # or somebody put another file in its place before we had it
                )
            ours.add(inode)
    return None


def _inode(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino


def _lock(file: int, stack: ExitStack) -> bool:
    """Lock the open *file* until *stack* ends, if it can be locked; return False if another has it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    # said, since closing does not unlock what a forked child has open too
    stack.callback(fcntl.flock, file, fcntl.LOCK_UN)
    return True
