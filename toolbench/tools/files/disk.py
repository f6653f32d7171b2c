"""Read a file whole, and write it so that a full disk or a sudden end never costs a byte of it."""

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from toolbench.tools.failure_sentence import RunError, readable, run_error
from toolbench.tools.files.entry import Entry
from toolbench.tools.files.likeness import UnlikeError, make_alike
from toolbench.tools.files.regular_file import read_up_to
from toolbench.wording import counted

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
    def of(cls, entry: Entry) -> "Stamp | None":
        """Return the stamp of the file at *entry*, `None` if there is none."""
        info = entry.stat()
        return None if info is None else cls.from_stat(info)

    @classmethod
    def from_stat(cls, info: os.stat_result) -> "Stamp":
        """Return the stamp in what `stat` found."""
        return cls(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bytes of a file, and its stamp from before they were read."""

    data: bytes
    stamp: Stamp


def read(entry: Entry) -> Snapshot:
    """Return what the file at *entry* holds. Never waits for a device or a pipe.

    Raises:
        RunError: If it cannot be read, is no regular file, or is larger than MAX_BYTES.
    """
    path = readable(str(entry.raw_path))
    try:
        _check_regular(entry.stat(), path)  # opening a device may do something
        with entry.opened(os.O_RDONLY) as file:
            info = os.fstat(file)
            _check_regular(info, path)
            return Snapshot(_all_of(file, path), Stamp.from_stat(info))
    except BlockingIOError:
        msg = f"{path} has nothing to read now and may never have: it is no ordinary file."
        raise RunError(msg) from None
    except OSError as error:
        raise run_error(error, f"read {path}") from None


def _check_regular(info: os.stat_result | None, path: str) -> None:
    if info is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not stat.S_ISREG(info.st_mode):  # a pipe or device might never end
        msg = f"{path} is no regular file: only those can be read."
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
    """Make the file at *entry* hold *data*, all or nothing; return its new stamp.

    The bytes go to a new file beside it with the same owner, group, mode and attributes,
    which then takes its name. A reader sees the old file or the new one. A file that
    has other names too, or whose likeness this user cannot give, is written where it is: it
    stays what it is, but a reader may see half of it meanwhile. If this process is
    killed in the middle of that, the old text is in a file `.toolbench-...` beside it.

    Args:
        entry: The file.
        data: What it will hold.
        expected: Its stamp when it was read; `None` if it must not exist yet.

    Raises:
        RunError: If it cannot be written, or was changed since it was read.
    """
    check_size(data)
    path = readable(str(entry.raw_path))
    try:
        check_writable(entry)
        with entry.beside() as beside:
            try:
                is_alike = fill(beside, data, like=entry)
                check_unchanged(entry, expected)
                if is_alike:
                    # before others can have it, and change it
                    stamp = Stamp.of(beside)
                    put_in_place(beside, entry, is_new=expected is None)
                else:
                    write_in_place(entry, data, beside)
                    stamp = Stamp.of(entry)
            finally:  # no half file is left behind
                with suppress(OSError):  # the file itself is written, or is as it was
                    beside.unlink(missing_ok=True)
        return stamp
    except OSError as error:
        raise run_error(error, f"write {path}") from None


def put_back(entry: Entry, data: bytes | None, expected: Stamp | None) -> Stamp | None:
    """Make the file at *entry* hold *data* as `write` does, or be gone if that is `None`.

    Raises:
        RunError: As `write`.
    """
    if data is not None:
        return write(entry, data, expected)
    check_unchanged(entry, expected)
    entry.unlink()
    return None


def fill(beside: Entry, data: bytes, *, like: Entry) -> bool:
    """Write *data* to the new file *beside*, like that at *like* if there is one.

    Returns:
        Whether it can take the place of that: it has the same owner, group, mode and
        attributes, and that has no other name.
    """
    info = like.stat()
    mode = (
        0o666 if info is None else 0o600
    )  # never open to more people than the old one
    with beside.opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode) as file:
        _write_all(file, data)
        if info is None:
            return True
        try:
            with like.opened(os.O_RDONLY) as old:
                make_alike(file, old)
        except UnlikeError:
            return False
    return info.st_nlink == 1


def put_in_place(beside: Entry, entry: Entry, *, is_new: bool) -> None:
    """Give the file *beside* the name *entry*; if *is_new*, over nothing that is there.

    Raises:
        OSError: If it cannot have the name.
    """
    if is_new:
        try:
            beside.link(entry)
        except FileExistsError:
            check_unchanged(entry, None)
            raise
        except OSError:  # a file system without hard links
            beside.replace(entry)
    else:
        beside.replace(entry)


def write_in_place(entry: Entry, data: bytes, beside: Entry) -> None:
    """Make the file at *entry* hold *data* without replacing it; *beside* keeps the old text.

    Raises:
        OSError: If it cannot; the file holds what it held.
        RunError: The same, and that could not be put back: *beside* has it then.
    """
    with entry.opened(os.O_RDWR) as file:
        old = _all_of(file, readable(str(entry.raw_path)))
        with beside.opened(os.O_WRONLY | os.O_TRUNC) as target:
            _write_all(target, old)
        try:
            _overwrite(file, data)
        except BaseException:  # also an interrupt: the file is not left half written
            _restore(file, old, entry, beside)
            raise


def _restore(file: int, old: bytes, entry: Entry, beside: Entry) -> None:
    try:
        _overwrite(file, old)
    except OSError as error:
        rescued = entry.beside()
        beside.replace(rescued)
        msg = (
            f"{readable(str(entry.raw_path))} could be written only in part, and not put back "
            f"({error.strerror}). All that it held is in {readable(str(rescued.path))}."
        )
        raise RunError(msg) from None


def _overwrite(file: int, data: bytes) -> None:
    size = os.fstat(file).st_size
    if len(data) > size and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file, size, len(data) - size)  # is there room?
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
    os.lseek(file, 0, os.SEEK_SET)
    _write_all(file, data)
    os.ftruncate(file, len(data))


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def check_size(data: bytes) -> None:
    """Check that *data* is not more than a file may hold.

    Raises:
        RunError: If it is.
    """
    if len(data) > MAX_BYTES:
        msg = f"Nothing was written: {counted(len(data), 'byte')} are more than the limit of {MAX_BYTES:,}."
        raise RunError(msg)


def check_writable(entry: Entry) -> None:
    """Check that *entry* may be written if it exists: a rename would not ask for that.

    Raises:
        PermissionError: If it may not.
    """
    if entry.stat() is not None and not os.access(
        entry.name, os.W_OK, dir_fd=entry.directory
    ):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(entry.path))


def check_unchanged(entry: Entry, expected: Stamp | None) -> None:
    """Check that the file at *entry* still has the stamp *expected*; `None`: is not there.

    Raises:
        RunError: If it does not.
    """
    if Stamp.of(entry) != expected:
        msg = (
            f"{readable(str(entry.path))} was changed by something else meanwhile; nothing was "
            "written. View it again, then repeat the edit."
        )
        raise RunError(msg)
