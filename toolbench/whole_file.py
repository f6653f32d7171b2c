"""A file that is written whole or not at all: who reads it meanwhile reads what was there before."""

import os
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
