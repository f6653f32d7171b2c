"""One edit of a file at a time in this process."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

_locks: WeakValueDictionary[Path, Lock] = WeakValueDictionary()  # while they are held
_looking_up = Lock()


@contextmanager
def held(*paths: Path) -> Iterator[None]:
    """Have the files at *paths*, without links, for oneself: what is read stays until written.

    Only those who ask here wait for each other; see `disk.check_unchanged` for all others.
    """
    with ExitStack() as stack:
        for path in sorted(
            set(paths)
        ):  # in one order, so that no two wait for each other
            stack.enter_context(_lock_of(path))
        yield


def _lock_of(path: Path) -> Lock:
    with _looking_up:
        return _locks.setdefault(path, Lock())
