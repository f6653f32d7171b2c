"""Remember the tasks that a server runs for this user, so that a later kernel finds them."""

import json
import logging
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import time, time_ns
from typing import Any, NamedTuple

from platformdirs import user_state_path

from toolbench.files import write_whole

# Tasks of one server
_MOST = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptTask:
    """A task that a call of this user started at a server."""

    id: str
    tool: str
    created: str = ""
    expires: float | None = None
    """The time until which the server keeps the task, as in `time.time`; None if it does not
    tell."""

    @property
    def is_expired(self) -> bool:
        """Whether the time is over for which the server keeps the task."""
        return self.expires is not None and time() > self.expires


class _Entry(NamedTuple):
    """The file of one task, and what was read from it."""

    since: float
    """The time at which the file was written; 0 for a file that cannot be read."""
    path: Path
    task: KeptTask | None
    """The task; None if the file cannot be read."""


class KeptTasks:
    """The tasks of one server, oldest first, each in a file of its own that only the user can read.

    Kernels that run at the same time need no lock: no kernel writes to the file of another kernel.
    """

    def __init__(self, server: str | None, folder: Path | None = None) -> None:
        """Keep the tasks of *server* in *folder*, by default `tasks` in the state directory.

        If *server* is None, the server is in this process, and the tasks are kept only in memory.
        """
        self._server = server
        self._folder = folder
        self._unwritten: dict[str, KeptTask] = {}
        self._lock = Lock()

    def all(self) -> list[KeptTask]:
        """Return the tasks."""
        with self._lock:
            written = [entry.task for entry in self._entries() if entry.task]
            return [*written, *self._unwritten.values()]

    def add(self, task: KeptTask) -> None:
        """Remember *task*; if there are too many tasks, forget the oldest."""
        with self._lock:
            self._unwritten.pop(task.id, None)
            if self._server is not None and self._write(task):
                return
            self._unwritten[task.id] = task
            for identity in list(self._unwritten)[:-_MOST]:
                del self._unwritten[identity]

    def forget(self, identity: str) -> None:
        """Remove the task with the id *identity*."""
        with self._lock:
            self._unwritten.pop(identity, None)
            if self._server is not None:
                _remove(self._file(identity))

    @property
    def _place(self) -> Path:
        """The folder of the files of this server."""
        folder = self._folder or user_state_path("toolbench") / "tasks"
        return folder / _digest(self._server or "")

    def _file(self, identity: str) -> Path:
        return self._place / f"{_digest(identity)}.json"

    def _entries(self) -> list[_Entry]:
        """Return the files, oldest first; files that cannot be read come before all others."""
        if self._server is None:
            return []
        return sorted(map(_entry, self._place.glob("*.json")), key=lambda e: e.since)

    def _write(self, task: KeptTask) -> bool:
        """Write *task* to its file; return False if that is not possible."""
        row = {**asdict(task), "since": time_ns()}
        try:
            self._place.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._file(task.id), json.dumps(row, indent=1))
        except OSError as error:
            _log.warning("A task was not kept: %s.", error.strerror)
            return False
        for entry in self._entries()[:-_MOST]:
            _remove(entry.path)
        return True


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _entry(path: Path) -> _Entry:
    try:
        row: Any = json.loads(path.read_text(encoding="utf-8"))
        expires = row.get("expires")
        task = KeptTask(
            id=str(row.get("id", "")),
            tool=str(row.get("tool", "")),
            created=str(row.get("created", "")),
            expires=expires if isinstance(expires, int | float) else None,
        )
        return _Entry(float(row["since"]), path, task)
    except FileNotFoundError:
        # Another kernel has removed it
        return _Entry(0, path, None)
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RecursionError,
    ):
        _log.warning("The file of a task %s cannot be read.", path)
        return _Entry(0, path, None)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("A task was not forgotten: %s.", error.strerror)
