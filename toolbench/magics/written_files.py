"""Files that lines of a notebook write: a file with other content is not overwritten."""

from hashlib import sha256
from pathlib import Path

from IPython.core.error import UsageError


class WrittenFiles:
    """The files that lines wrote in this session; a cell that is run again renews its own."""

    def __init__(self) -> None:
        """None is written yet."""
        self._digests: dict[Path, bytes] = {}

    def write(self, path: str, text: str, *, overwrite: bool) -> str:
        """Write *text* to *path*, and return a sentence that says so.

        Args:
            path: The file; `~` is the home directory.
            text: What it shall hold.
            overwrite: Do so whatever it holds now.

        Raises:
            UsageError: If it holds something else that was not written here, or cannot be written.
        """
        data = text.encode("utf-8", "replace")
        try:
            file = Path(path).expanduser().resolve()
            before = file.read_bytes() if file.exists() else None
            if before == data:
                return f"{path} holds it already."
            is_ours = before is None or self._digests.get(file) == _digest(before)
            if not (is_ours or overwrite):
                msg = (
                    f"{path!r} is there and holds something else: nothing was written. "
                    "Name another file, or add --yes to overwrite this one."
                )
                raise UsageError(msg)
            file.write_bytes(data)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            msg = f"{path!r} cannot be written: {reason}."
            raise UsageError(msg) from None
        self._digests[file] = _digest(data)
        return f"{'Wrote' if before is None else 'Overwrote'} {path}."


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
