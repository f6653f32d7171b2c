"""Read a file whole, and write it so that a full disk or a sudden end never costs a byte of it."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolbench.tools.failure import RunError, count, readable, run_error

MAX_BYTES = 10 * 1024 * 1024
"""The largest file that is read or written."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes whenever a file is written or replaced."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        """Return the stamp of the file at *path*, `None` if there is none."""
        try:
            return cls.from_stat(path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    @classmethod
    def from_stat(cls, found: os.stat_result) -> "Stamp":
        """Return the stamp in what `stat` found."""
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of a file, and its stamp from before they were read."""

    data: bytes
    stamp: Stamp | None


def read(path: Path) -> Snapshot:
    """Return what the file at *path* holds.

    Raises:
        RunError: If it cannot be read, is no regular file, or is larger than MAX_BYTES.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe or device might never end
            msg = f"{readable(str(path))} is no regular file: only those can be read."
            raise RunError(msg)
        if found.st_size > MAX_BYTES:
            msg = (
                f"{readable(str(path))} is too large: {found.st_size / 1024**2:.1f} MB, and the "
                f"limit is {MAX_BYTES // 1024**2} MB. Work on a part of it with another tool."
            )
            raise RunError(msg)
        return Snapshot(path.read_bytes(), Stamp.from_stat(found))
    except OSError as error:
        raise run_error(error, f"read {readable(str(path))}") from None


def write(path: Path, data: bytes, expected: Stamp | None) -> Stamp | None:
    """Make the file at *path* hold *data*, all at once or not at all; return its new stamp.

    The bytes go to a new file beside it, which then takes its name and its mode. Whoever
    looks sees the old file or the new one, and a link stays a link.

    Args:
        path: The file, or a link to it; missing directories are made.
        data: What it will hold.
        expected: Its stamp when it was read; `None` if it must not exist yet.

    Raises:
        RunError: If it cannot be written, or was changed since it was read.
    """
    if len(data) > MAX_BYTES:
        msg = f"Nothing was written: {count(len(data), 'byte')} are more than the limit of {MAX_BYTES:,}."
        raise RunError(msg)
    target = Path(os.path.realpath(path))
    beside = beside_of(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            check_writable(target)
            fill(beside, data, like=target)
            check_unchanged(target, expected)
            beside.replace(target)
        except BaseException:  # an interrupt too leaves no half file behind
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise run_error(error, f"write {readable(str(path))}") from None
    return Stamp.of(target)


def put_back(path: Path, data: bytes | None, expected: Stamp | None) -> Stamp | None:
    """Make the file at *path* hold *data* as `write` does, or be gone if that is `None`.

    Raises:
        RunError: As `write`.
    """
    if data is not None:
        return write(path, data, expected)
    check_unchanged(path, expected)
    path.unlink()
    return None


def beside_of(target: Path) -> Path:
    """Return a free, hidden, short name in the directory of *target*."""
    return target.with_name(f".toolbench-{secrets.token_hex(8)}")


def fill(beside: Path, data: bytes, *, like: Path) -> None:
    """Write *data* to the new file *beside*, with the owner and mode of *like* if that exists."""
    try:
        old = like.stat()
    except FileNotFoundError:
        old = None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    mode = 0o666 if old is None else 0o600  # never open to more people than the old one
    with os.fdopen(os.open(beside, flags, mode), "wb") as file:
        file.write(data)
    if old is None:
        return
    if hasattr(os, "chown") and old.st_uid != os.geteuid():
        with suppress(PermissionError):  # only root can: else it becomes ours
            os.chown(beside, old.st_uid, old.st_gid)
    beside.chmod(stat.S_IMODE(old.st_mode))


def check_writable(target: Path) -> None:
    """Check that *target* may be written if it exists: a rename would not ask for that.

    Raises:
        PermissionError: If it may not.
    """
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))


def check_unchanged(target: Path, expected: Stamp | None) -> None:
    """Check that the file at *target* still has the stamp *expected*; `None`: is not there.

    Raises:
        RunError: If it does not.
    """
    if Stamp.of(target) != expected:
        msg = (
            f"{readable(str(target))} was changed by something else meanwhile; nothing was "
            "written. View it again, then repeat the edit."
        )
        raise RunError(msg)
