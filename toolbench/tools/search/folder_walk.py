"""Yield the files below a directory, without hidden or ignored files, and without following links."""

import os
import re
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple

from toolbench.tools.failure_sentence import readable
from toolbench.tools.search.ignore import (
    IgnoreFile,
    is_ignored,
    origin_of,
    read_rules,
    rules_above,
)
from toolbench.tools.search.kernel_files import kernel_directories
from toolbench.wording import counted

_Rules = tuple[IgnoreFile, ...]
# Names in the remark
_NAMED = 5
_TO_LIST = os.O_RDONLY | os.O_DIRECTORY


class DirectoryFiles(NamedTuple):
    """Some files of one directory."""

    directory: str
    """The path to put before a file's name, relative to the base of the walk: empty, or with a slash at the end."""
    files: list[os.DirEntry[str]]
    """The files, as entries of the open directory: `stat` looks up only the name, not the whole path."""


class Walk:
    """An iterable over the files below a directory. It yields their paths, relative to the directory.

    The order is not fixed.
    """

    def __init__(
        self,
        base: Path,
        top: Path,
        *,
        only_path: re.Pattern[str] | None = None,
        only_name: Callable[[str], object] | None = None,
        hidden: bool = False,
        links: bool = True,
        deepest: float = inf,
        stopped: Callable[[], bool] = bool,
    ) -> None:
        """Prepare a walk through *base*.

        Args:
            base: The directory to begin with, without links. It may be hidden or ignored.
            top: The highest directory whose .gitignore counts, if *base* is not in a repository.
            only_path: A regex that must match the whole path of a file. If left out, all files are
                included.
            only_name: A function that tests a file's name. It is used instead of *only_path*.
            hidden: Whether to include names that begin with a dot; `.git` is never included.
            links: Whether links to files count as files.
            deepest: The maximum number of directories between *base* and a file.
            stopped: A function that is called before each directory; the walk ends if it returns
                True.
        """
        self._origin = origin_of(base, top)
        self.base = base
        parts = base.relative_to(self._origin).parts
        self._start = "".join(f"{part}/" for part in parts)
        self._rules = tuple(rules_above(self._origin, parts))
        by_path = None if only_path is None else only_path.fullmatch
        self._matches, self._by_name = only_name or by_path, only_name is not None
        self.hidden = hidden
        self._links = links
        self._deepest = deepest
        self._stopped = stopped
        self.ignored: list[str] = []
        """The directories that a .gitignore ignores, relative to *base*; the walk does not enter them."""
        self.ignored_files: list[str] = []
        """The files that a .gitignore ignores although they match, relative to *base*."""
        whole = kernel_directories(base)
        self.left_out = {path.removeprefix(self.prefix) for path in whole}
        """The directories of the kernel, such as /proc, relative to *base*; the walk leaves them out."""
        self.unreadable = 0
        """The number of directories that could not be read."""

    @property
    def has_rules(self) -> bool:
        """Whether rules of a .gitignore count in *base*."""
        rules = self.base / ".gitignore"
        return bool(self._rules) or os.path.exists(rules)  # noqa: PTH110 - never raises

    @property
    def is_stopped(self) -> bool:
        """Whether the walk has to end."""
        return self._stopped()

    @property
    def prefix(self) -> str:
        """The text to put before a yielded path to make the path absolute."""
        return f"{str(self.base).rstrip('/')}/"

    def remark(self, advice: str) -> str:
        """Return a remark about what was ignored, for a search that found nothing; empty if nothing was.

        It ends with *advice*: how to search it nevertheless.
        """
        directories = [path for path in self.ignored if self._is_wanted(path)]
        counts = [counted(len(self.ignored_files), "file")] * bool(self.ignored_files)
        counts += [counted(len(directories), "folder")] * bool(directories)
        if not counts:
            return ""
        names = sorted([*self.ignored_files, *directories])[:_NAMED]
        return (
            f"[Not searched, because .gitignore excludes them: {' and '.join(counts)}, such as "
            f"{', '.join(map(readable, names))}. {advice}]"
        )

    def __iter__(self) -> Iterator[str]:
        for directory, files in self.by_directory():
            for file in files:
                yield directory + file.name

    def by_directory(self) -> Iterator[DirectoryFiles]:
        """Yield the files of each directory that the walk enters.

        Use the entries of the files before the next step: then their directory is closed.
        """
        stack: list[tuple[str, _Rules]] = [(self._start, self._rules)]
        while stack and not self._stopped():
            below, rules = stack.pop()
            try:
                directory = os.open(f"{self._origin}/{below}", _TO_LIST)
            except FileNotFoundError:
                continue
            except OSError:
                self.unreadable += 1
                continue
            try:
                files, directories = self._listed(directory, below, rules)
                stack += directories
                yield DirectoryFiles(below[len(self._start) :], files)
            finally:
                os.close(directory)

    def _listed(
        self, directory: int, below: str, rules: _Rules
    ) -> tuple[list[os.DirEntry[str]], list[tuple[str, _Rules]]]:
        """Return the files in the open *directory*, and the directories to walk through next.

        *below* is the path of *directory*, relative to the origin.
        """
        matches = self._matches
        inside = below[len(self._start) :]
        above = "" if self._by_name else inside
        files: list[os.DirEntry[str]] = []
        directories: list[tuple[str, _Rules]] = []
        entries = self._entries(directory)
        names = [entry.name for entry in entries]
        rules = self._rules_in(below, entries, rules)
        # Takes nearly all time
        for name, entry in zip(names, entries, strict=True):
            if name[0] == "." and (name == ".git" or not self.hidden):
                self._note_hidden(entry, below, rules)
                continue
            is_directory = entry.is_dir(follow_symlinks=False)
            if not is_directory and matches and not matches(above + name):
                continue
            if rules and is_ignored(rules, name, below + name, is_directory):
                (self.ignored if is_directory else self.ignored_files).append(inside + name)
            elif is_directory:
                if self._is_wanted(inside + name):
                    directories.append((f"{below}{name}/", rules))
            elif entry.is_file(follow_symlinks=False) or self._is_link(entry):
                files.append(entry)
        return files, directories

    def _rules_in(self, below: str, entries: list[os.DirEntry[str]], rules: _Rules) -> _Rules:
        """Return the rules for the *entries* of the directory *below*: *rules*, and its own."""
        if any(entry.name == ".gitignore" for entry in entries):
            own = read_rules(self._origin, below)
            rules = (*rules, own) if own else rules
        if rules and below and below == self._start and _ignore_all(rules, below, entries):
            # The base is ignored, although no rule names it: `build/*`
            return ()
        return rules

    def _note_hidden(self, entry: os.DirEntry[str], below: str, rules: _Rules) -> None:
        """Note the hidden *entry* of the directory *below* if it is an ignored file, such as .env."""
        name, path = entry.name, below + entry.name
        inside = path[len(self._start) :]
        matches = self._matches
        if not rules or entry.is_dir(follow_symlinks=False):
            return
        is_wanted = not matches or matches(name if self._by_name else inside)
        if is_wanted and is_ignored(rules, name, path, False):  # noqa: FBT003 - a file
            self.ignored_files.append(inside)

    def _entries(self, directory: int) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as scan:
                return list(scan)
        except FileNotFoundError:
            return []
        except OSError:
            self.unreadable += 1
            return []

    def _is_wanted(self, path: str) -> bool:
        """Tell whether the walk enters the directory *path*, relative to the base."""
        return path.count("/") < self._deepest and path not in self.left_out

    def _is_link(self, entry: os.DirEntry[str]) -> bool:
        """Tell whether *entry* is a link to a file, and the walk includes such links."""
        try:
            return self._links and entry.is_symlink() and entry.is_file()
        except OSError:
            # A circle of links
            return False


def _ignore_all(rules: _Rules, below: str, entries: list[os.DirEntry[str]]) -> bool:
    """Tell whether *rules* ignore all that may be in the directory *below*, and all its *entries*.

    What begins with a dot does not count, such as a .gitkeep.
    """
    # No file has this name: only a rule for all names matches
    if not is_ignored(rules, "\0", f"{below}\0", False):  # noqa: FBT003 - a file
        return False
    shown = (entry for entry in entries if entry.name[0] != ".")
    return all(
        is_ignored(rules, entry.name, below + entry.name, entry.is_dir(follow_symlinks=False))
        for entry in shown
    )
