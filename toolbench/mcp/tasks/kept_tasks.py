"""Remember the tasks that a server runs for this user, so that a later kernel finds them."""

import json
import logging
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import time
from typing import Any

from platformdirs import user_state_path

from toolbench.whole_file import write_whole

_MOST = 100  # tasks of one server
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptTask:
    """A task that one of our calls started."""

    id: str
    tool: str
    created: str = ""
    expires: float | None = None
    """The time until which the server keeps it, as in `time.time`; None if the server does not tell."""

    @property
    def is_expired(self) -> bool:
        """Whether the server need not keep the task any more."""
        return self.expires is not None and time() > self.expires


class KeptTasks:
    """The tasks of one server, oldest first; only the user can read the file."""

    def __init__(self, server: str | None, folder: Path | None = None) -> None:
        """Keep the tasks of *server* in *folder*, by default `tasks` in the state directory.

        If *server* is None, the server is in this process, and the tasks are kept only in memory.
        """
        self._server = server
        self._folder = folder
        self._known: dict[str, KeptTask] = {}
        self._lock = Lock()

    def all(self) -> list[KeptTask]:
        """Return the tasks."""
        with self._lock:
            return list(self._read().values())

    def add(self, task: KeptTask) -> None:
        """Remember *task*."""
        with self._lock:
            tasks = {**self._read(), task.id: task}
            self._write(dict(list(tasks.items())[-_MOST:]))

    def forget(self, identity: str) -> None:
        """Remove the task *identity*."""
        with self._lock:
            tasks = self._read()
            if tasks.pop(identity, None) is not None:
                self._write(tasks)

    @property
    def _file(self) -> Path | None:
        if self._server is None:
            return None
        folder = self._folder or user_state_path("toolbench") / "tasks"
        return folder / f"{sha256(self._server.encode()).hexdigest()[:32]}.json"

    def _read(self) -> dict[str, KeptTask]:
        """Return the tasks in the file; if it cannot be read, the tasks that this object knows."""
        if self._file is None:
            return dict(self._known)
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))
            tasks = [_task(row) for row in rows]
        except FileNotFoundError:
            return dict(self._known)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            _log.warning("The file of tasks %s cannot be read.", self._file)
            return dict(self._known)
        return {task.id: task for task in tasks}

    def _write(self, tasks: dict[str, KeptTask]) -> None:
        self._known = tasks
        if self._file is None:
            return
        text = json.dumps([asdict(task) for task in tasks.values()], indent=1)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._file, text, errors="replace")
        except OSError as error:
            _log.warning("A task was not kept: %s.", error.strerror)


def _task(row: Any) -> KeptTask:
    """Return the task in *row*.

    Raises:
        AttributeError: If *row* is not an object.
    """
    expires = row.get("expires")
    return KeptTask(
        *(str(row.get(key, "")) for key in ("id", "tool", "created")),
        expires=expires if isinstance(expires, int | float) else None,
    )
