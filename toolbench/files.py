"""Write files completely or not at all, and replace a user's file only with permission.

Readers see the old content until the write ends. A file in which toolbench keeps its own state must
not be a link: a cloned repository could contain a link to any file of the user.
"""

import errno
import os
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Lock

from toolbench.errors import FileError


def open_unlinked(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """Open the file at *path* as `os.open` does, but refuse links.

    Pass this function to `open` as its `opener`.

    Raises:
        OSError: If the file cannot be opened, or is a link.
    """
    _refuse_link(path)
    # Also one that appears only now
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), mode)


def _refuse_link(path: str | os.PathLike[str]) -> None:
    if Path(path).is_symlink():
        why = (
            f"it is a link to {str(Path(path).readlink())!r}: give that path itself, if you mean it"
        )
        raise OSError(errno.ELOOP, why, str(path))


def write_whole(
    path: Path, content: str | bytes, *, errors: str = "strict", is_private: bool = True
) -> None:
    """Write *content* to the file at *path*, in place of its old content.

    Args:
        path: The file; its folder must exist. If writing fails, the old content stays. A device
            such as `/dev/stdout` is written to directly.
        content: The new content of the file; a string is written as UTF-8.
        is_private: If true, only the owner may read the file, and links are refused. If false,
            links are followed, an old file keeps its owner and permissions, and a new file gets
            the usual permissions of this process.
        errors: How to treat characters that UTF-8 cannot encode; see `str.encode`.

    Raises:
        OSError: If the file cannot be written; no temporary file is left.
    """
    data = _encoded(content, errors)
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(data)
        return
    if is_private:
        _refuse_link(path)
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{token_hex(8)}.tmp")
    mode = 0o666
    if is_private:
        mode = 0o600
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
        if not is_private and path.exists():
            _make_alike(temporary, path.stat())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        # Also an interrupt: no half of a file is left
        temporary.unlink(missing_ok=True)
        raise


def _encoded(content: str | bytes, errors: str) -> bytes:
    if isinstance(content, str):
        return content.encode("utf-8", errors)
    return content


def _make_alike(file: Path, old: os.stat_result) -> None:
    """Give *file* the permissions of the *old* file and, if this process may do so, its owner."""
    if (old.st_uid, old.st_gid) != (file.stat().st_uid, file.stat().st_gid):
        with suppress(OSError):
            os.chown(file, old.st_uid, old.st_gid)
    file.chmod(stat.S_IMODE(old.st_mode))


def append_whole(path: Path, text: str, *, errors: str = "strict") -> None:
    """Append *text* to the file at *path*, completely or not at all.

    If the file is new, only its owner can read it. Text that other programs append at the same time
    is not lost.

    Raises:
        OSError: If the text cannot be written; the file is unchanged.
    """
    data = text.encode("utf-8", errors)
    place = open_unlinked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size, rest = os.fstat(place).st_size, memoryview(data)
        try:
            # Usually in one piece: other programs may append too
            while rest:
                rest = rest[os.write(place, rest) :]
        except OSError:
            # All of it is ours
            if data.startswith(os.pread(place, len(data) + 1, size)):
                os.ftruncate(place, size)
            raise
    finally:
        os.close(place)


HOW_TO_OVERWRITE = "overwrite=True (--overwrite in a line)"
"""What the user has to write, in Python or on a command line, to let a file be replaced."""
# Else two threads would both find no file, and one would replace that of the other
_one_writes = Lock()


def write_named(
    path: Path | str,
    content: str | bytes,
    *,
    overwrite: bool,
    is_private: bool = False,
    makes_folder: bool = False,
) -> Path:
    """Write *content* to the file at *path*, completely or not at all, and return its path.

    Args:
        path: The path of the file. `~` stands for the home directory.
        content: The new content; a string is written as UTF-8.
        overwrite: Whether an existing file with other content may be replaced. An empty file, or a
            file that already has this content, may always be replaced.
        is_private: Whether only the owner may read the file; see `write_whole`.
        makes_folder: Whether a missing folder of the file is made. Otherwise it is an error.

    Raises:
        FileError: If the file has other content, or cannot be written; the old content stays.
    """
    data = _encoded(content, "replace")
    try:
        path = Path(path).expanduser()
        with _one_writes:
            if not overwrite:
                check_free(path, data)
            if makes_folder and not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data, is_private=is_private)
    except FileError:
        # A FileError is an OSError too
        raise
    except (OSError, ValueError, RuntimeError) as error:
        # ValueError: a zero byte in the name; RuntimeError: there is no home directory
        reason = getattr(error, "strerror", None) or error
        msg = f"{str(path)!r} cannot be written: {str(reason).rstrip('.')}."
        raise FileError(msg) from error
    return path


def check_free(path: Path, data: bytes | None = None) -> None:
    """Check that a file can be written to *path* without losing any content.

    The check passes if there is no file, if the file is empty, or if its content is already *data*.

    Raises:
        FileError: If the file has other content.
    """
    if path.is_file() and path.read_bytes() not in (b"", data):
        msg = (
            f"{str(path)!r} already has other content: nothing was written. Name another file, or "
            f"overwrite it with {HOW_TO_OVERWRITE}."
        )
        raise FileError(msg)
