"""Write a file that a person named: other content is replaced only if the person says so."""

from pathlib import Path
from threading import Lock

from toolbench.errors import FileError
from toolbench.whole_file import write_whole

HOW_TO_OVERWRITE = "overwrite=True (--yes in a line)"
"""What a person writes to replace a file, in Python and in a line of a cell or of a terminal."""
# Else two threads would both find no file, and one would replace that of the other
_one_writes = Lock()


def write_named(
    path: Path | str, content: str | bytes, *, overwrite: bool, is_private: bool = False
) -> Path:
    """Write *content* to the file at *path*, completely or not at all, and return its path.

    Args:
        path: The file; `~` is the home directory.
        content: The new content; a text is written as UTF-8.
        overwrite: Replace a file that has other content. One that is empty, or has this content
            already, needs no permission.
        is_private: As in `write_whole`.

    Raises:
        FileError: If the file has other content, or cannot be written; the old content stays.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        path = Path(path).expanduser()
        with _one_writes:
            if not overwrite:
                check_free(path, data)
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
    """Check that there is no file at *path*, or that it is empty or has the content *data*.

    Raises:
        FileError: If the file has other content.
    """
    if path.is_file() and path.read_bytes() not in (b"", data):
        msg = (
            f"{str(path)!r} already has other content: nothing was written. Name another file, or "
            f"overwrite it with {HOW_TO_OVERWRITE}."
        )
        raise FileError(msg)
