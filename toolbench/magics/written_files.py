"""Write files from magics, without overwriting files that they did not write."""

from hashlib import sha256
from pathlib import Path

from IPython.core.error import UsageError

from toolbench.whole_file import write_whole


class WrittenFiles:
    """Remembers the files that magics wrote in this session, because magics may overwrite these files."""

    def __init__(self) -> None:
        """Remember no files yet."""
        self._digests: dict[Path, bytes] = {}

    def write(self, path: str, text: str, *, overwrite: bool) -> str:
        """Write *text* to *path*, and return a sentence that says what was done.

        Args:
            path: The file; `~` is the home directory.
            text: The new content of the file.
            overwrite: Also replace a file that no magic wrote in this session.

        Raises:
            UsageError: If the file has other content that no magic wrote, or if writing fails.
        """
        data = text.encode("utf-8", "replace")
        try:
            file = Path(path).expanduser().resolve()
            before = file.read_bytes() if file.exists() else None
            if before == data:
                return f"{path} has this content already."
            is_ours = before is None or self._digests.get(file) == _digest(before)
            if not (is_ours or overwrite):
                msg = (
                    f"{path!r} exists and has other content: nothing was written. "
                    "Name another file, or add --yes to overwrite this one."
                )
                raise UsageError(msg)
            write_whole(file, data, is_private=False)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            msg = f"{path!r} cannot be written: {reason}."
            raise UsageError(msg) from None
        self._digests[file] = _digest(data)
        return f"{'Wrote' if before is None else 'Overwrote'} {path}."


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
