"""Where a file is: its path with all links resolved, found from a path that a model sent."""

import os
import secrets
import stat
from errno import ENAMETOOLONG, ENOTDIR
from pathlib import Path
from typing import Self

# Bytes; no program opens a longer path
_LONGEST = 4096


class OutsideError(Exception):
    """The path leads out of the directory that the tool may use."""


class Entry:
    """A path with all links resolved. The file there need not exist."""

    def __init__(self, path: Path, raw_path: Path) -> None:
        """Make an entry.

        Args:
            path: The path after its links were resolved.
            raw_path: The path as the caller wrote it, which messages show.
        """
        self.path = path
        self.raw_path = raw_path

    @classmethod
    def find(
        cls,
        path: Path,
        *,
        root: Path | None = None,
        follow: bool = True,
        is_new: bool = False,
    ) -> Self:
        """Return the directory entry to which the absolute path *path* leads.

        Args:
            path: The path. Links in its directories are always followed.
            root: The directory that must contain the entry, as a path without links. None means
                that the entry may be anywhere.
            follow: Whether to follow *path* itself if it is a link.
            is_new: Whether the file will be created. If true, directories of *path* may be missing.

        Raises:
            OutsideError: If the entry is not in *root*.
            OSError: If a directory of *path* is missing or cannot be searched.
        """
        if len(os.fsencode(path)) >= _LONGEST:
            raise OSError(ENAMETOOLONG, os.strerror(ENAMETOOLONG))
        if follow or path.name == "..":
            real = Path(os.path.realpath(path))
        else:
            real = Path(os.path.realpath(path.parent), path.name)
        if root is not None and root not in (real, *real.parents):
            raise OutsideError
        is_made_later = is_new and not real.parent.exists()
        if not is_made_later and not stat.S_ISDIR(os.stat(real.parent).st_mode):  # noqa: PTH116 - Path.stat is the same, slower
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        return cls(real, path)

    def stat(self) -> os.stat_result | None:
        """Return the `stat` of the file, without following a link; `None` if there is no file."""
        try:
            return self.path.lstat()
        except FileNotFoundError:
            return None

    def is_directory(self) -> bool:
        """Tell whether the entry is a directory."""
        info = self.stat()
        return info is not None and stat.S_ISDIR(info.st_mode)

    def beside(self) -> Path:
        """Return a new path in the same directory, with a short, hidden name that no file has."""
        return self.path.with_name(f".toolbench-{secrets.token_hex(8)}")
