"""Lock the files of an edit against other threads and, where `flock` works, other processes."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from weakref import WeakValueDictionary

from toolbench.tools.failure_sentence import RunError, readable
from toolbench.tools.files.regular_file import opened
from toolbench.tools.posix import fcntl

PATIENCE = 10.0
"""The seconds to wait for another process that has locked a file."""
# Seconds between two tries to lock a file
_PAUSE = 0.005

# Locks that are in use
_locks: WeakValueDictionary[Path, Lock] = WeakValueDictionary()
_looking_up = Lock()


@contextmanager
def file_locks(*paths: Path) -> Iterator[None]:
    """Lock the files at *paths* during the `with` block, so that no one else edits them.

    *paths* must not contain links. The lock excludes other threads of this process. It also
    excludes other processes that call this function, if the file exists and the platform and the
    file system support `flock`. Other programs can still change the files. Therefore, call
    `disk.check_unchanged` before you write.

    Raises:
        RunError: If another process locks a file for longer than PATIENCE.
    """
    # always in the same order, to avoid a deadlock
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
            # Hold no lock while waiting: no deadlock
            stack.close()
            if monotonic() > due:
                msg = (
                    f"{readable(str(locked))} is locked by another program; nothing was "
                    "written. Repeat the edit when that program is done with it."
                )
                raise RunError(msg)
            sleep(_PAUSE)
        yield


def _locked_elsewhere(paths: Iterable[Path], stack: ExitStack) -> Path | None:
    """Lock the files at *paths* until *stack* ends.

    Return None if this succeeds. Else return the first path that cannot be locked, because another
    process has locked or replaced the file.
    """
    ours: set[tuple[int, int]] = set()
    for path in paths:
        # No file, or no permission: the edit reports it
        with suppress(OSError):
            file = stack.enter_context(opened(path))
            inode = _inode(os.fstat(file))
            if inode in ours:
                # Another name of the same file
                continue
            if not _lock(file, stack) or _inode(path.stat()) != inode:
                # Or another file replaced it before the lock
                return path
            ours.add(inode)
    return None


def _inode(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino


def _lock(file: int, stack: ExitStack) -> bool:
    """Lock the open *file* until *stack* ends; return False if another process has locked it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks
        return True
    # explicit, because closing does not unlock a file that a forked child has open too
    stack.callback(fcntl.flock, file, fcntl.LOCK_UN)
    return True
