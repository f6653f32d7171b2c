"""A server under development: the files of its source, and what a new start has changed.

The files are those that the command names, and source files in their folders and below. If the command
names no source file, as in `python -m package`, it is the folder where the process starts. Left out are
hidden folders and those of environments, caches and builds; a file that the command names is watched
wherever it is. At most `MOST_FILES` files in `MOST_FOLDERS` folders are watched, the nearest first.
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
"""The endings of source files; data that a server writes has other ones."""
# A start may write into the last ones, as that of `npm start`
_SKIPPED = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "out", "target"}
)
# Changes that a note names
_MOST_CHANGES = 8


class Development:
    """What is known of a server under development, for one connection.

    Any thread may call the methods. They look at files, so the background loop calls them in threads.
    """

    def __init__(self, *, is_watched: bool = False) -> None:
        """Prepare for a server.

        Args:
            is_watched: Whether the server is started again as soon as a file has changed, and not
                only before its next use.
        """
        self.is_watched = is_watched
        # What the command names, and the folders in which source files are watched
        self._named: list[Path] = []
        self._folders: list[Path] = []
        # The files before the process started: time of the last change, size and inode
        self._before: dict[Path, tuple[int, int, int]] = {}
        # What changed, in words, and when
        self._cause: tuple[str, float] | None = None
        # The offers of the last note and of now
        self._told: Mapping[str, Any] | None = None
        self._offer: Mapping[str, Any] = {}
        # Of two calls at once, one has the note
        self._lock = Lock()

    # --- its files --------------------------------------------------------------------

    def begin(self, entry: ServerEntry) -> None:
        """Note how the files are now, just before the server's process is started by *entry*."""
        named, folders = _named(entry)
        # A build may have removed what the command names: it comes again
        if named or not self._folders:
            self._named, self._folders = named, folders
        self._before = self._files()

    def changed(self) -> list[Path]:
        """Return the files that were changed, added or removed since the server's process was started."""
        before, now = self._before, self._files()
        return [path for path in before | now if before.get(path) != now.get(path)]

    @property
    def watched(self) -> str:
        """How many files are watched, in a sentence; the way out if there are none."""
        if not self._before:
            return "No source file of it was found: --cwd DIR names their folder."
        return f"{counted(len(self._before), 'file')} watched."

    def _files(self) -> dict[Path, tuple[int, int, int]]:
        """Return the facts of the files that there are."""
        files: dict[Path, tuple[int, int, int]] = {}
        for path in [*self._named, *_sources(self._folders)]:
            # Removed meanwhile
            with suppress(OSError):
                stat = path.stat()
                files[path] = stat.st_mtime_ns, stat.st_size, stat.st_ino
        return files

    # --- what is said of a new start ----------------------------------------------------

    def note_cause(self, changed: Sequence[Path]) -> None:
        """Note that the server is started again because the files *changed*, if there are any."""
        if changed:
            newest = max(changed, key=_time_of)
            words = on_one_line(newest.name)
            if len(changed) > 1:
                words += f" and {counted(len(changed) - 1, 'other file')}"
            self._cause = words, _time_of(newest)

    @property
    def cause(self) -> str:
        """Why the server was started again, such as `server.py changed 12 s ago`; empty if it was not."""
        if self._cause is None:
            return ""
        words, changed_at = self._cause
        return f"{words} changed {duration(max(0.0, time.time() - changed_at))} ago"

    def look(self, offer: Mapping[str, Any]) -> None:
        """Note *offer*, the newest offer of the server: its description, instructions and tools."""
        self._offer = offer
        if self._told is None:
            self._told = offer

    def note(self, server: str) -> list[str]:
        """Return why *server* was started again, and what has changed in its offer since the last note.

        It is one note; none if the files were not the reason for a new start.
        """
        with self._lock:
            cause, self._cause = self.cause, None
        if not cause:
            return []
        return ["\n".join([f"{cause}: {server} was started again.", *self.changes()])]

    def changes(self) -> list[str]:
        """Return what has changed in the offer since the last note, a line for each change."""
        before, self._told, self._cause = self._told, self._offer, None
        if before is None or before == self._told:
            return []
        found = Offer(self._told, before).changes()
        lines = [f"- {change.severity}: {on_one_line(change.text)}" for change in found]
        if len(lines) > _MOST_CHANGES:
            lines[_MOST_CHANGES:] = [f"and {len(lines) - _MOST_CHANGES:,} more"]
        return lines


def development_of(entry: ServerEntry, *, dev: bool, watch: bool) -> Development | None:
    """Return what `connect(..., dev=True)` needs to know of the server of *entry*; None without *dev*.

    Raises:
        ServerError: If *watch* comes without *dev*, or no command starts the server.
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
    """Return the files that the command of *entry* names, and the folders of its source."""
    start = Path(entry.cwd or "").absolute()
    for option, folder in pairwise(entry.args):
        # With it, uv starts the process there
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
    # A program that the author builds, and not the Python of `.venv`
    program = start / entry.command
    is_inside = program.is_relative_to(start) and program.is_file()
    if is_inside and not str(program.relative_to(start)).startswith("."):
        files.append(program)
    return files, folders


def _sources(folders: Iterable[Path]) -> list[Path]:
    """Return the source files in *folders* and below, up to the limits, those of the upper folders first."""
    todo, files = list(dict.fromkeys(folders)), list[Path]()
    # It grows
    for folder in todo:
        with suppress(OSError), os.scandir(folder) as entries:
            # By name: the limits leave out the same ones each time
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
    """Return when the file at *path* was changed; of one that was removed it is now."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()
