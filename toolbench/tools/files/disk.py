"""Read whole files, and write files without data loss if the disk is full or the process ends."""

import errno
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolbench.tools.failure_sentence import RunError, readable, run_error
from toolbench.tools.files.entry import Entry
from toolbench.tools.files.regular_file import opened, read_up_to
from toolbench.wording import counted

MAX_BYTES = 10 * 1024 * 1024
"""The largest size, in bytes, of a file that is read or written."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Facts about a file that change when the file is written or replaced."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        """Return the stamp of the file at *path*; `None` if the file does not exist."""
        try:
            return cls.from_stat(path.lstat())
        except FileNotFoundError:
            return None

    @classmethod
    def from_stat(cls, info: os.stat_result) -> "Stamp":
        """Return the stamp in *info*, a result of `stat`."""
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of a file, and the stamp that the file had before it was read."""

    data: bytes
    stamp: Stamp


def read(entry: Entry) -> Snapshot:
    """Return the content of the file at *entry*, without waiting for a device or a pipe.

    Raises:
        RunError: If the file cannot be read, is not a regular file, or is larger than MAX_BYTES.
    """
    path = readable(str(entry.raw_path))
    try:
        # Opening a device may have an effect
        _check_regular(entry.stat(), path)
        with opened(entry.path) as file:
            stamp = Stamp.from_stat(os.fstat(file))
            return Snapshot(_all_of(file, path), stamp)
    except OSError as error:
        raise run_error(error, f"read {path}") from None


def _check_regular(info: os.stat_result | None, path: str) -> None:
    if info is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    # A pipe or device might never end
    if not stat.S_ISREG(info.st_mode):
        msg = f"{path} is not a regular file: only regular files can be read."
        raise RunError(msg)
    _check_size(info.st_size, path)


def _check_size(size: int, path: str) -> None:
    if size > MAX_BYTES:
        msg = (
            f"{path} is too large: {size / 1024**2:.1f} MB, and the "
            f"limit is {MAX_BYTES // 1024**2} MB. Work on a part of it with another tool."
        )
        raise RunError(msg)


def _all_of(file: int, path: str) -> bytes:
    data = read_up_to(file, MAX_BYTES + 1)
    _check_size(len(data), path)
    return data


def write(entry: Entry, data: bytes, expected: Stamp | None) -> Stamp | None:
    """Write *data* to the file at *entry*, and return the new stamp of the file.

    Usually, the data is written to a new file in the same directory, with the same owner, group,
    mode and attributes. Then the new file is renamed and replaces the old one, so readers never
    see an incomplete file.

    The old file is overwritten instead if it has several names (hard links), or if its owner,
    group or mode cannot be copied. In this case, other programs may read an incomplete file. The
    file stays incomplete if this process is killed during the write.

    Args:
        entry: The file. Missing directories are created.
        data: The new content.
        expected: The stamp that the file had when it was read; `None` if there must be no file.

    Raises:
        RunError: If the file cannot be written, or was changed after it was read.
    """
    check_size(data)
    path = readable(str(entry.raw_path))
    try:
        check_writable(entry)
        make_folders(entry)
        beside = entry.beside()
        try:
            is_alike = fill(beside, data, like=entry)
            check_unchanged(entry, expected)
            if is_alike:
                # before other programs can change the file
                stamp = Stamp.of(beside)
                put_in_place(beside, entry, is_new=expected is None)
            else:
                write_in_place(entry, data)
                stamp = Stamp.of(entry.path)
        finally:
            # Leave no incomplete file beside; a failure here loses nothing
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        return stamp
    except OSError as error:
        raise run_error(error, f"write {path}") from None


def put_back(entry: Entry, data: bytes | None, expected: Stamp | None) -> Stamp | None:
    """Write *data* to the file at *entry* as `write` does; if *data* is `None`, remove the file.

    Raises:
        RunError: If the file cannot be written, or was changed after it was read.
    """
    if data is not None:
        return write(entry, data, expected)
    check_unchanged(entry, expected)
    entry.path.unlink()
    return None


def fill(beside: Path, data: bytes, *, like: Entry) -> bool:
    """Write *data* to a new file at *beside*. If the file *like* exists, copy its attributes.

    Returns:
        Whether the new file may replace *like* by a rename. This is false if the owner, the group
        or the mode of *like* could not be copied, or if *like* has another name (a hard link).
    """
    info = like.stat()
    mode = 0o666
    if info is not None:
        # Never readable by more people than the old file
        mode = 0o600
    with opened(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode) as file:
        _write_all(file, data)
    if info is None:
        return True
    try:
        if hasattr(os, "chown"):
            os.chown(beside, info.st_uid, info.st_gid)
        shutil.copystat(like.path, beside)
        os.utime(beside)
    except PermissionError:
        return False
    return info.st_nlink == 1


def put_in_place(beside: Path, entry: Entry, *, is_new: bool) -> None:
    """Rename the file *beside* to *entry*. If *is_new* is true, do not replace an existing file.

    Raises:
        OSError: If the file cannot be renamed.
    """
    if not is_new:
        beside.replace(entry.path)
        return
    try:
        entry.path.hardlink_to(beside)
    except FileExistsError:
        check_unchanged(entry, None)
        raise
    except (OSError, NotImplementedError):
        # A file system, or a page's Python, without hard links
        beside.replace(entry.path)


def write_in_place(entry: Entry, data: bytes) -> None:
    """Write *data* into the existing file at *entry*, without a rename.

    Raises:
        OSError: If the write fails. In this case, the old content has been restored.
        RunError: If the old content cannot be restored either.
    """
    path = readable(str(entry.raw_path))
    with opened(entry.path, os.O_RDWR) as file:
        old = _all_of(file, path)
        try:
            _overwrite(file, data)
        except BaseException:
            # Also an interrupt: do not leave the file half written
            try:
                _overwrite(file, old)
            except OSError as error:
                msg = f"{path} was written only in part, and could not be restored ({error.strerror})."
                raise RunError(msg) from None
            raise


def _overwrite(file: int, data: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    _write_all(file, data)
    os.ftruncate(file, len(data))


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def check_size(data: bytes) -> None:
    """Check that *data* is not larger than MAX_BYTES.

    Raises:
        RunError: If *data* is larger.
    """
    if len(data) > MAX_BYTES:
        msg = f"Nothing was written: {counted(len(data), 'byte')} are more than the limit of {MAX_BYTES:,}."
        raise RunError(msg)


def make_folders(entry: Entry) -> None:
    """Create the missing directories of *entry*; they stay even if the file cannot be written."""
    entry.path.parent.mkdir(parents=True, exist_ok=True)


def check_writable(entry: Entry) -> None:
    """Check that this user may write the file at *entry*. A missing file passes the check.

    The operating system does not check this permission when a rename replaces a file.

    Raises:
        PermissionError: If this user may not write *entry*.
    """
    if entry.stat() is not None and not os.access(entry.path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(entry.path))


def check_unchanged(entry: Entry, expected: Stamp | None) -> None:
    """Check that the file at *entry* still has the stamp *expected*.

    If *expected* is `None`, check that the file does not exist.

    Raises:
        RunError: If the file has another stamp, or exists although *expected* is `None`.
    """
    if Stamp.of(entry.path) != expected:
        msg = (
            f"{readable(str(entry.path))} was changed by something else meanwhile; nothing was "
            "written. View it again, then repeat the edit."
        )
        raise RunError(msg)
