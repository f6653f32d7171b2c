"""The kinds of fault a child works under; each number is one moment, or one limit.

Descriptors and the size of files are real limits of the system, which the shim counts. The disk
that fails (EIO) the shim injects (see `shim.c`).
"""

import ctypes
import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

# As in shim.c
_EIO, _COUNTED = 1, 2


class Meeting:
    """How often a fault was met, and where first."""

    def __init__(self) -> None:
        self.times, self.place = 0, ""


@contextmanager
def _armed(kind: int, number: int, directory: Path) -> Iterator[Meeting]:
    library = ctypes.CDLL(None)
    library.fault_place.restype = ctypes.c_char_p
    meeting = Meeting()
    library.fault_arm(kind, number, str(directory).encode())
    try:
        yield meeting
    finally:
        meeting.times = library.fault_met()
        meeting.place = library.fault_place().decode()


@contextmanager
def descriptors(number: int, directory: Path) -> Iterator[Meeting]:
    """Less than *number* descriptors are free."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    handles = []
    try:
        while True:
            handles.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    # A shell wants one of the high ones
    last = len(handles) - (number - 1)
    used, free = handles[:last], handles[last:]
    for descriptor in free:
        os.close(descriptor)
    try:
        with _armed(_COUNTED, errno.EMFILE, directory) as meeting:
            yield meeting
    finally:
        for descriptor in used:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def size(number: int, directory: Path) -> Iterator[Meeting]:
    """No file may be larger than the square of *number* tells: first nothing, then ever more."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, ((number - 1) ** 2 * 500, hard))
    try:
        with _armed(_COUNTED, errno.EFBIG, directory) as meeting:
            yield meeting
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def eio(number: int, directory: Path) -> AbstractContextManager[Meeting]:
    """The call of that *number* that touches the directory fails."""
    return _armed(_EIO, number, directory)


FAULTS: dict[str, Callable[[int, Path], AbstractContextManager[Meeting]]] = {
    "descriptors": descriptors,
    "size": size,
    "eio": eio,
}
MOST = {"descriptors": 100, "size": 30, "eio": 600}
"""The last number that is tried; a deed is done with long before."""
