"""A name in an open directory. The name means the same file even if links in the path to it change."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from toolbench.tools.files.regular_file import WAITS_FOR_NOTHING

# The most links that are followed, as in the kernel
_LINKS = 40
# Bytes; no program opens a longer path
_LONGEST = os.pathconf("/", "PC_PATH_MAX")
# Linux: enough to open files below a directory without the right to list it.
_SEARCH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
_SAFE = os.O_NOFOLLOW | WAITS_FOR_NOTHING

Identity = tuple[int, int]
"""The device and the inode number of a file or directory."""


class OutsideError(Exception):
    """The path leads out of the directory that the tool may use."""


class Entry:
    """A name in an open directory; a file of this name need not exist. Close the entry after use.

    All operations use the descriptor of the directory and the name. So if a program replaces a
    directory of the path by a link, the operations still use the original directory.
    """

    def __init__(self, directory: int, path: Path, raw_path: Path) -> None:
        """Make an entry; `close` closes the descriptor *directory*.

        Args:
            directory: The descriptor of the directory that has the name.
            path: The path of the directory and the name, without links.
            raw_path: The path as the caller wrote it, for messages.
        """
        self.directory = directory
        self.path = path
        self.raw_path = raw_path
        self.name = path.name or "."
        self.new_folders: list[Entry] = []
        """The directories that `find` made for the path."""

    @classmethod
    def find(
        cls,
        path: Path,
        *,
        root: Identity | None = None,
        follow: bool = True,
        make: bool = False,
    ) -> Self:
        """Return the entry of the absolute path *path*.

        Args:
            path: The path; links in it are followed one by one.
            root: The identity of the directory that must contain the entry; None for no limit.
            follow: Whether to follow the last name of *path* too, if it is a link.
            make: Whether to make missing directories.

        Raises:
            OutsideError: If the entry is not in *root*; then no directory was made.
            OSError: If a directory of *path* is missing or cannot be searched.
        """
        walk = _Walk(root)
        try:
            walk.go(path, follow=follow, make=make)
            entry = cls(os.dup(walk.directory), walk.path, path)
        except BaseException:
            # Also an interrupt: leave no new folder
            walk.unmake()
            raise
        finally:
            os.close(walk.directory)
        entry.new_folders, walk.new_folders = walk.new_folders, []
        if root is not None and root not in walk.trail and root != entry.identity:
            entry.close()
            raise OutsideError
        return entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the descriptor of the directory, and those of the directories that `find` made."""
        os.close(self.directory)
        for folder in self.new_folders:
            folder.close()
        self.new_folders = []

    def unmake(self) -> None:
        """Remove the directories that `find` made for the path, if they are empty."""
        for folder in reversed(self.new_folders):
            with suppress(OSError):
                os.rmdir(folder.name, dir_fd=folder.directory)

    def stat(self) -> os.stat_result | None:
        """Return the `stat` of the file, without following a link; `None` if there is no file."""
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @property
    def identity(self) -> Identity | None:
        """The identity of the file; `None` if the file does not exist."""
        return None if (info := self.stat()) is None else identity_of(info)

    def is_directory(self) -> bool:
        """Tell whether the entry is a directory."""
        info = self.stat()
        return info is not None and stat.S_ISDIR(info.st_mode)

    def open(self, flags: int, mode: int = 0o600) -> int:
        """Open the file and return its descriptor. A link is not followed, and a pipe is not waited for."""
        return os.open(self.name, flags | _SAFE, mode, dir_fd=self.directory)

    @contextmanager
    def opened(self, flags: int, mode: int = 0o600) -> Iterator[int]:
        """Open the file for a `with` block, which gets the descriptor."""
        file = self.open(flags, mode)
        try:
            yield file
        finally:
            os.close(file)

    def opened_directory(self) -> AbstractContextManager[int]:
        """Open the entry, a directory, for a `with` block that lists the directory."""
        return self.opened(os.O_RDONLY | os.O_DIRECTORY)

    def beside(self) -> "Entry":
        """Return an entry in the same directory with a new, hidden, short name that no file has."""
        path = self.path.with_name(f".toolbench-{secrets.token_hex(8)}")
        return Entry(os.dup(self.directory), path, path)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the file; if *missing_ok*, it may be missing."""
        try:
            os.unlink(self.name, dir_fd=self.directory)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def replace(self, target: "Entry") -> None:
        """Rename the file to *target*; an existing file *target* is replaced."""
        here, there = self.directory, target.directory
        os.replace(self.name, target.name, src_dir_fd=here, dst_dir_fd=there)

    def link(self, target: "Entry") -> None:
        """Make *target* another name of the file, a hard link.

        Raises:
            OSError: If *target* exists, or the file system has no hard links.
        """
        here, there = self.directory, target.directory
        os.link(
            self.name,
            target.name,
            src_dir_fd=here,
            dst_dir_fd=there,
            follow_symlinks=False,
        )


class _Directory(NamedTuple):
    name: str
    identity: Identity


class _Walk:
    """A walk from the root directory of the file system to a path, one name at a time."""

    def __init__(self, root: Identity | None) -> None:
        self.directory = os.open("/", _SEARCH)
        self.new_folders: list[Entry] = []
        self._root = root
        self._top = identity_of(os.fstat(self.directory))
        self._names: list[_Directory] = []
        self._last = ""

    @property
    def trail(self) -> list[Identity]:
        """All directories from the root of the file system to the present directory."""
        return [self._top, *(directory.identity for directory in self._names)]

    @property
    def path(self) -> Path:
        return Path("/", *(directory.name for directory in self._names), self._last)

    def go(self, path: Path, *, follow: bool, make: bool) -> None:
        if len(os.fsencode(path)) >= _LONGEST:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        pending, links = list(reversed(path.parts[1:])), 0
        while pending:
            name = pending.pop()
            is_last = not pending
            if name == "..":
                self._up()
                continue
            leads_to = self._link(name) if follow or not is_last else None
            if leads_to is None and is_last:
                self._last = name
            elif leads_to is None:
                self._enter(name, make=make)
            else:
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                if leads_to.is_absolute():
                    self._restart([])
                parts = leads_to.parts[leads_to.is_absolute() :]
                pending += reversed(parts)

    def unmake(self) -> None:
        for folder in reversed(self.new_folders):
            with suppress(OSError):
                os.rmdir(folder.name, dir_fd=folder.directory)
            folder.close()

    def _link(self, name: str) -> Path | None:
        """Return the target of *name* if it is a link, else None."""
        try:
            return Path(os.readlink(name, dir_fd=self.directory))
        except OSError as error:
            # Not a link, or no file
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise self._safe_error(error) from None

    def _enter(self, name: str, *, make: bool) -> None:
        try:
            try:
                below = os.open(name, _SEARCH, dir_fd=self.directory)
            except FileNotFoundError:
                if not make or not self._is_inside():
                    raise
                self._make(name)
                below = os.open(name, _SEARCH, dir_fd=self.directory)
        except OSError as error:
            raise self._safe_error(error) from None
        os.close(self.directory)
        self.directory = below
        self._names.append(_Directory(name, identity_of(os.fstat(below))))

    def _make(self, name: str) -> None:
        # Another program just made it
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.directory)
            path = self.path / name
            self.new_folders.append(Entry(os.dup(self.directory), path, path))

    def _up(self) -> None:
        self._restart([directory.name for directory in self._names[:-1]])

    def _restart(self, names: list[str]) -> None:
        os.close(self.directory)
        self.directory = os.open("/", _SEARCH)
        self._names = []
        for name in names:
            self._enter(name, make=False)

    def _is_inside(self) -> bool:
        return self._root is None or self._root in self.trail

    def _safe_error(self, error: OSError) -> Exception:
        """Return *error*; outside the allowed directory, return an error without details."""
        return error if self._is_inside() else OutsideError()


def identity_of(info: os.stat_result) -> Identity:
    """Return the identity of the file or directory whose `stat` is *info*."""
    return info.st_dev, info.st_ino
