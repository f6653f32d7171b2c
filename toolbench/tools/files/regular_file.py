"""Open a file only if it is a regular one, and never wait for what it holds."""

import errno
import os
import stat

WAITS_FOR_NOTHING = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags: no writer of a pipe is waited for, no terminal becomes that of this process."""


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
    parts, size = [], 0
    try:
        while part := os.read(file, most + 1 - size):
            parts.append(part)
            size += len(part)
            if size > most:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    finally:
        os.close(file)
    return b"".join(parts)
