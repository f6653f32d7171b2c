"""Write a file completely or not at all: until the end, readers see the earlier content."""

import os
import stat
from functools import partial
from pathlib import Path
from secrets import token_hex


def write_whole(
    path: Path, text: str, *, errors: str = "strict", is_private: bool = True
) -> None:
    """Put *text* into the file at *path*, as UTF-8.

    Args:
        path: The file; its folder has to be there. What was in it stays if this fails.
        text: All that the file holds after that.
        is_private: Whether only its owner can read the file; else who may read it stays as it is,
            and a new one is as any other of this process.
        errors: What becomes of characters that UTF-8 has no bytes for, as for `str.encode`.

    Raises:
        OSError: If it cannot be written; no other file is left.
    """
    temporary = path.absolute().with_name(f".{token_hex(8)}.tmp")
    opener = partial(os.open, mode=0o600 if is_private else 0o666)
    try:
        with open(
            temporary, "x", encoding="utf-8", errors=errors, opener=opener
        ) as file:
            file.write(text)
        if not is_private and path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:  # also an interrupt: no half of a file is left
        temporary.unlink(missing_ok=True)
        raise


def append_whole(path: Path, text: str, *, errors: str = "strict") -> None:
    """Put *text* behind what is in the file at *path*, all of it or nothing.

    Only its owner can read a file that is new; others may write to it meanwhile.

    Raises:
        OSError: If it cannot be written; the file is as it was.
    """
    data = text.encode("utf-8", errors)
    place = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(place).st_size
        try:
            rest = memoryview(data)
            while rest:  # as a rule in one piece: others append too
                rest = rest[os.write(place, rest) :]
        except OSError:
            os.ftruncate(place, size)
            raise
    finally:
        os.close(place)
