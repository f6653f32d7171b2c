"""Write a file completely or not at all; readers see the old content until the write ends."""

import os
import stat
from functools import partial
from pathlib import Path
from secrets import token_hex


def write_whole(path: Path, text: str, *, errors: str = "strict", is_private: bool = True) -> None:
    """Write *text* to the file at *path*, as UTF-8, in place of its old content.

    Args:
        path: The file; its folder must exist. If writing fails, the old content stays.
        text: The new content of the file.
        is_private: Whether only the owner of the file can read it. If not, an old file keeps its
            permissions, and a new file gets the usual permissions of this process.
        errors: How to treat characters that UTF-8 cannot encode; see `str.encode`.

    Raises:
        OSError: If the file cannot be written; no temporary file is left.
    """
    temporary = path.absolute().with_name(f".{token_hex(8)}.tmp")
    opener = partial(os.open, mode=0o600 if is_private else 0o666)
    try:
        with open(temporary, "x", encoding="utf-8", errors=errors, opener=opener) as file:
            file.write(text)
        if not is_private and path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        # Also an interrupt: no half of a file is left
        temporary.unlink(missing_ok=True)
        raise


def append_whole(path: Path, text: str, *, errors: str = "strict") -> None:
    """Append *text* to the file at *path*, completely or not at all.

    If the file is new, only its owner can read it. Other programs may append to the file at the
    same time; what they write is never removed.

    Raises:
        OSError: If the text cannot be written; the file is unchanged.
    """
    data = text.encode("utf-8", errors)
    place = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
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
