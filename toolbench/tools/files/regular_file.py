"""Open and read only regular files, without waiting for a pipe or a device."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Do not wait for a pipe, attach to a terminal, or change line ends. Windows lacks some, others lack one.
_FLAGS = 0
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    _FLAGS |= getattr(os, _name, 0)
_PART = 256 * 1024
"""The bytes of one read; each read takes this much memory, even for a short file."""


@contextmanager
def opened(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> Iterator[int]:
    """Open the regular file at *path* for a `with` block, and yield its file descriptor.

    Raises:
        OSError: If the file cannot be opened, or is not a regular file. A pipe, for example, is
            refused, because reading it may never end.
    """
    file = os.open(path, flags | _FLAGS, mode)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        yield file
    finally:
        os.close(file)


def read_regular(path: str, most: int) -> bytes:
    """Return the content of the file at *path*.

    Raises:
        OSError: If the file cannot be opened or read, is not a regular file, or is larger than
            *most* bytes.
    """
    with opened(path) as file:
        data = read_up_to(file, most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return data


def read_up_to(file: int, most: int) -> bytes:
    """Return the rest of the open *file*, at most *most* bytes.

    Raises:
        OSError: If the file cannot be read.
    """
    # Usually the first read, of the file's reported size, returns everything without a copy. The
    # files in /proc report no size, and some never end: the rest is read in parts.
    part = os.read(file, min(max(os.fstat(file).st_size + 1, _PART), most))
    parts, size = [part], len(part)
    while part and (part := os.read(file, min(_PART, most - size))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
