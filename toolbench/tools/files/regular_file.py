"""Open a file only if it is a regular one, and never wait for what it holds."""

import errno
import os
import stat

WAITS_FOR_NOTHING = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags: no writer of a pipe is waited for, no terminal becomes that of this process."""
_PART = 256 * 1024
"""Bytes that are read at once: as much memory is taken, however short the file."""


def open_regular(path: str) -> int:
    """Return a descriptor to read the file at *path*; links are followed.

    Raises:
        OSError: If it cannot be opened, or is no regular file: a pipe or a device may never end.
    """
    file = os.open(path, os.O_RDONLY | WAITS_FOR_NOTHING)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
    except BaseException:  # also an interrupt: the descriptor is not lost
        os.close(file)
        raise
    return file


def read_regular(path: str, most: int) -> bytes:
    """Return what the file at *path* holds, *most* bytes at the most.

    Raises:
        OSError: As `open_regular`; if nothing is there to read yet; if it holds more.
    """
    file = open_regular(path)
    try:
        data = read_up_to(file, most + 1)
    finally:
        os.close(file)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def read_up_to(file: int, most: int) -> bytes:
    """Return the rest of the open *file*, or the first *most* bytes of it.

    The files of /proc do not say how long they are, and some have no end. So it is read in
    parts: a short file takes no more memory than it needs.

    Raises:
        OSError: If it cannot be read.
    """
    parts, size = [], 0
    while part := os.read(file, min(_PART, most - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
