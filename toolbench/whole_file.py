"""A file that is written whole or not at all: who reads it meanwhile reads what was there before."""

import os
from errno import ENOSPC
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_whole(path: Path, text: str, *, errors: str = "strict") -> None:
    """Put *text* into the file at *path*, as UTF-8; only its owner can read the file.

    Args:
        path: The file; its folder has to be there. What was in it stays if this fails.
        text: All that the file holds after that.
        errors: What becomes of characters that UTF-8 has no bytes for, as for `str.encode`.

    Raises:
        OSError: If it cannot be written; nothing is left beside it.
    """
    folder = path.absolute().parent
    with NamedTemporaryFile(
        "w", encoding="utf-8", errors=errors, dir=folder, prefix=".", delete=False
    ) as file:
        try:
            file.write(text)
            file.close()
            os.replace(file.name, path)  # noqa: PTH105 - the two are of one folder
        except BaseException:  # also an interrupt: no half of a file is left
            Path(file.name).unlink(missing_ok=True)
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
        if os.write(place, data) < len(data):  # in one piece: others append too
            os.ftruncate(place, size)
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(path))
    finally:
        os.close(place)
