"""Watch the source files of a server under development, and compare its tools after a restart.

The files that the command names are watched, together with the source files in and below the
folders of these files. If the command names no source file, as in `python -m package`, the folder
in which the process starts is watched. Hidden folders, environments, caches and build folders are
skipped, except for files that the command names. At most `MOST_FILES` files in `MOST_FOLDERS`
folders are watched; those in the nearest folders come first.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

from toolbench.display.escape import on_one_line
from toolbench.errors import ServerError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.trust.trust import Offer
from toolbench.wording import counted, duration

MOST_FILES = 2_000
MOST_FOLDERS = 500
_SOURCE = frozenset(
    {
        ".cjs",
        ".cs",
        ".cts",
        ".go",
        ".jar",
        ".java",
        ".js",
        ".jsx",
        ".kt",
        ".mjs",
        ".mts",
        ".php",
        ".py",
        ".rb",
        ".rs",
        ".sh",
        ".swift",
        ".ts",
        ".tsx",
    }
)
"""The extensions of source files; data that a server writes has other extensions."""
# Starting a server, for example by `npm start`, may write to the last ones
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "out", "target"}
)
# The most changes that a note names
_MOST_CHANGES = 8


class Development:
    """Finds changes in the source files and in the tools of a server under development.

    Any thread may call the methods. The methods read files, which would block the background loop,
    so the loop calls them in other threads.
    """

    def __init__(self, *, is_watched: bool = False) -> None:
        """Prepare for a server.

        Args:
            is_watched: Whether the server is restarted as soon as a file changes, not only before
                its next use.
        """
        self.is_watched = is_watched
        # The files that the command names, and the folders in which source files are watched
        self._named: list[Path] = []
        self._folders: list[Path] = []
        # The files before the process started: time of the last change, size and inode
        self._before: dict[Path, tuple[int, int, int]] = {}
        # Which files changed, in words, and when
        self._cause: tuple[str, float] | None = None
        # The offer at the last note, and the current offer
        self._told: Mapping[str, Any] | None = None
        self._offer: Mapping[str, Any] = {}
        # If two calls run at once, only one gets the note
        self._lock = Lock()

    # --- its files --------------------------------------------------------------------

    def begin(self, entry: ServerEntry) -> None:
        """Note the state of the files, just before the server of *entry* is started."""
        named, folders = _named(entry)
        # A build may have removed the files that the command names for a moment
        if named or not self._folders:
            self._named, self._folders = named, folders
        self._before = self._files()

    def changed(self) -> list[Path]:
        """Return the files that were changed, added or removed since the server was started."""
        before, now = self._before, self._files()
        return [path for path in before | now if before.get(path) != now.get(path)]

    @property
    def watched(self) -> str:
        """A sentence on how many files are watched, with advice if there are none."""
        if not self._before:
            return "No source file of it was found: --cwd DIR names their folder."
        return f"{counted(len(self._before), 'file')} watched."

    def _files(self) -> dict[Path, tuple[int, int, int]]:
        """Return the time of the last change, size and inode of each existing file."""
        files: dict[Path, tuple[int, int, int]] = {}
        for path in [*self._named, *_sources(self._folders)]:
            # The file may have been removed meanwhile
            with suppress(OSError):
                stat = path.stat()
                files[path] = stat.st_mtime_ns, stat.st_size, stat.st_ino
        return files

    # --- notes about a restart --------------------------------------------------------

    def note_cause(self, changed: Sequence[Path]) -> None:
        """Remember the files *changed*, if there are any, as the cause of the next restart."""
        if changed:
            newest = max(changed, key=_time_of)
            words = on_one_line(newest.name)
            if len(changed) > 1:
                words += f" and {counted(len(changed) - 1, 'other file')}"
            self._cause = words, _time_of(newest)

    @property
    def cause(self) -> str:
        """Why the server was restarted, such as `server.py changed 12 s ago`; else empty."""
        if self._cause is None:
            return ""
        words, changed_at = self._cause
        return f"{words} changed {duration(max(0.0, time.time() - changed_at))} ago"

    def look(self, offer: Mapping[str, Any]) -> None:
        """Remember *offer*, which has the server's current description, instructions and tools."""
        self._offer = offer
        if self._told is None:
            self._told = offer

    def note(self, server: str) -> list[str]:
        """Return a note that says why *server* was restarted and how its tools have changed.

        The note is the only item of a list. The list is empty if no change of files caused a
        restart.
        """
        with self._lock:
            cause, self._cause = self.cause, None
        if not cause:
            return []
        return ["\n".join([f"{cause}: {server} was started again.", *self.changes()])]

    def changes(self) -> list[str]:
        """Return the changes in the tools and instructions since the last note, one per line."""
        before, self._told, self._cause = self._told, self._offer, None
        if before is None or before == self._told:
            return []
        found = Offer(self._told, before).changes()
        lines = [f"- {change.severity}: {on_one_line(change.text)}" for change in found]
        if len(lines) > _MOST_CHANGES:
            lines[_MOST_CHANGES:] = [f"and {len(lines) - _MOST_CHANGES:,} more"]
        return lines


def development_of(entry: ServerEntry, *, dev: bool, watch: bool) -> Development | None:
    """Return an object that finds changes in the files of a server; None if *dev* is False.

    *entry* is the configuration of the server.

    Raises:
        ServerError: If *watch* is True but *dev* is False, or the server is not started by a
            command.
    """
    if watch and not dev:
        msg = "watch=True belongs to dev=True: give both."
        raise ServerError(msg)
    if not dev:
        return None
    if entry.transport != "stdio":
        msg = (
            "dev=True is for a server that a command starts, such as "
            f"{{'command': 'python', 'args': ['server.py']}}, and not for {entry.target}."
        )
        raise ServerError(msg)
    return Development(is_watched=watch)


def _named(entry: ServerEntry) -> tuple[list[Path], list[Path]]:
    """Return the files that the command of *entry* names, and the folders of the source files."""
    start = Path(entry.cwd or "").absolute()
    for option, folder in pairwise(entry.args):
        # With this option, uv starts the process in that folder
        if option == "--directory":
            start /= folder
    files = []
    for word in entry.args:
        # Without the object in `fastmcp run server.py:app`
        path = start / re.sub(r":\w+$", "", word)
        # `Path.is_file` raises an error for a word that is too long for a path
        if path.suffix.lower() in _SOURCE and os.path.isfile(path):  # noqa: PTH113
            files.append(path)
    folders = [path.parent for path in files] or [start]
    # A program that the author builds, unlike the Python of `.venv`
    program = start / entry.command
    is_inside = program.is_relative_to(start) and program.is_file()
    if is_inside and not str(program.relative_to(start)).startswith("."):
        files.append(program)
    return files, folders


def _sources(folders: Iterable[Path]) -> list[Path]:
    """Return the source files in and below *folders*, upper folders first, up to the limits."""
    todo, files = list(dict.fromkeys(folders)), list[Path]()
    # The list grows during the loop
    for folder in todo:
        with suppress(OSError), os.scandir(folder) as entries:
            # Sorted, so that the limits always leave out the same files
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = Path(entry.path)
                if entry.name.startswith(".") or entry.name in _SKIPPED:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    todo.append(path)
                elif path.suffix.lower() in _SOURCE:
                    files.append(path)
        del todo[MOST_FOLDERS:], files[MOST_FILES:]
    return files


def _time_of(path: Path) -> float:
    """Return when the file at *path* was changed; if it was removed, return the current time."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()
