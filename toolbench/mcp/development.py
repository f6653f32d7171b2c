"""A server under development: the files of its source, and what a new start has changed.

The files are those that the command names and, around them, source files: in the folder of each named
file, in the folder of `cwd`, and in that of the option `--directory` (of uv). If the command names no file
and no such folder, as in `python -m package`, it is the folder where the process starts. Left out are
hidden folders and those of environments, caches and, unless the command names a file there, builds. At most
`MOST_FILES` files in `MOST_FOLDERS` folders are watched, the nearest first.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

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
_ENVIRONMENTS = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})
# A start may write into the last ones, as that of `npm start`
_SKIPPED = _ENVIRONMENTS | {"build", "dist", "out", "target"}
# Nanoseconds: a later write may leave the time of a file that is younger; some disks count in 2 s
_YOUNG = 3_000_000_000
# Bytes: a larger file, such as a program, is not read at each look
_SMALL = 1_000_000
# Changes that a note names
_MOST_CHANGES = 8


class _Stamp(NamedTuple):
    """How a file was when it was looked at."""

    facts: tuple[int, int, int]
    """The time of its last change, its size and its inode."""
    digest: bytes = b""
    """The hash of its content, if a later write may leave its facts as they are."""

    def fits(self, path: Path, facts: tuple[int, int, int]) -> bool:
        """Tell whether the file at *path* is as it was; *facts* are what it has now."""
        return self.facts == facts and self.digest in (b"", _digest(path))


class Development:
    """What is known of a server under development, for one connection.

    Any thread may call the methods. They look at files, so the background loop calls them in threads.
    """

    def __init__(self, entry: ServerEntry, *, is_watched: bool = False) -> None:
        """Watch the source of the server that *entry* starts.

        Args:
            entry: The configuration of the server.
            is_watched: Whether the server is started again as soon as a file has changed, and not
                only before its next use.
        """
        self.is_watched = is_watched
        self._entry, self._folder = entry, Path.cwd()
        # What the command names, and the folders around
        self._named: list[Path] = []
        self._folders: list[Path] = []
        # As the files were before the process started
        self._stamps: Mapping[Path, _Stamp] = {}
        # What changed, in words, and when
        self._cause: tuple[str, float] | None = None
        # The offers of the last note and of now
        self._told: Mapping[str, Any] | None = None
        self._offer: Mapping[str, Any] = {}
        # Of two calls at once, one has the note
        self._lock = Lock()

    # --- its files --------------------------------------------------------------------

    def begin(self) -> None:
        """Note how the files are now, just before the server's process is started."""
        # A variable that is not set: then nothing is started either
        with suppress(ServerError):
            entry = self._entry.expanded(os.environ)
            named, folders = _named(entry, self._folder / (entry.cwd or ""))
            # A build may have removed what the command names: it comes again
            if named or not self._folders:
                self._named, self._folders = named, folders
        stamps = {}
        for path, facts in self._files().items():
            digest = b""
            if time.time_ns() - facts[0] < _YOUNG and facts[1] < _SMALL:
                digest = _digest(path)
            stamps[path] = _Stamp(facts, digest)
        self._stamps = stamps

    def changed(self) -> list[Path]:
        """Return the files that were changed, added or removed since the server's process was started."""
        before, now = self._stamps, self._files()
        changed = [path for path in before if path not in now]
        for path, facts in now.items():
            if path not in before or not before[path].fits(path, facts):
                changed.append(path)
        return changed

    @property
    def watched(self) -> str:
        """How many files are watched, in a sentence; the way out if there are none."""
        if not self._stamps:
            return "No source file of it was found: --cwd DIR names their folder."
        return f"{counted(len(self._stamps), 'source file')} watched."

    def _files(self) -> dict[Path, tuple[int, int, int]]:
        """Return the facts of the files that there are."""
        files: dict[Path, tuple[int, int, int]] = {}
        for path in [*self._named, *_around(self._folders)]:
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
    return Development(entry, is_watched=watch)


def _named(entry: ServerEntry, start: Path) -> tuple[list[Path], list[Path]]:
    """Return the files that the command of *entry* names, and the folders of its source.

    *start* is the folder where the process starts.
    """
    pairs = zip(entry.args, entry.args[1:], strict=False)
    folders = [start / word for option, word in pairs if option == "--directory"]
    places = [start, *folders]
    if entry.cwd:
        folders.append(start)
    files = []
    for place, word in product(places, entry.args):
        value = word.rpartition("=")[2]
        # The second as in `fastmcp run server.py:app`
        for path in (place / value, place / value.rpartition(":")[0]):
            if path.suffix.lower() in _SOURCE and _is_file(path):
                files.append(path)
                folders.append(path.parent)
    # A program that the author builds, and not the Python of an environment
    program = start / entry.command
    if program.is_relative_to(start) and _is_file(program):
        parts = program.relative_to(start).parts
        if not any(part in _ENVIRONMENTS or part.startswith(".") for part in parts):
            files.append(program)
    return files, folders or [start]


def _is_file(path: Path) -> bool:
    # Without an error for a word that is too long for a path
    return os.path.isfile(path)  # noqa: PTH113


def _around(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the source files in *folders* and below, up to the limits, those of the upper folders first."""
    todo = list(dict.fromkeys(folders))
    left = MOST_FILES
    # It grows
    for folder in todo:
        for entry in _entries(folder):
            path = Path(entry.path)
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if entry.is_dir(follow_symlinks=False):
                if len(todo) < MOST_FOLDERS and path not in todo:
                    todo.append(path)
            elif path.suffix.lower() in _SOURCE and left:
                left -= 1
                yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            # The limits leave out the same ones each time
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _time_of(path: Path) -> float:
    """Return when the file at *path* was changed; of one that was removed it is now."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _digest(path: Path) -> bytes:
    try:
        return sha256(path.read_bytes()).digest()
    except OSError:
        return b"gone"
