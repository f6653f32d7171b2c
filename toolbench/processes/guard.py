"""When this process ends, even by a SIGKILL, end the programs that it started.

A program that ignores SIGTERM and the end of its stdin would otherwise run for ever after a Jupyter
kernel is killed. A launcher (`npx`, `uvx`, `sh -c`) starts the program that matters, so it is not
enough to end the launcher. A small separate process (`watch.py`) waits until this process has
ended, and then ends all programs with everything they started. On Windows there is no guard: the
MCP SDK uses job objects there.
"""

import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from toolbench.processes import watch


class ProcessGuard:
    """A list of programs that end when this process ends; any thread may call its methods."""

    def __init__(self) -> None:
        """Make an empty list of programs. The watch is started only when a program is added."""
        self._lock = Lock()
        self._leaders: set[int] = set()
        self._watch: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def add(self, leader: int) -> None:
        """Make sure that a program ends when this process ends.

        The program is the process with the id *leader*, with all processes in its session. If the
        process that watches this process cannot be started, no error is raised, and the program is
        not ended automatically.
        """
        if sys.platform == "win32":
            return
        with self._lock:
            # After a fork: the watch is our parent's
            if self._owner != os.getpid():
                self._leaders, self._watch, self._owner = set(), None, os.getpid()
            self._leaders.add(leader)
            if self._watch is None or not self._tell(f"+{leader}"):
                with suppress(OSError, MemoryError):
                    self._start()

    def discard(self, leader: int) -> None:
        """Remove the process with the id *leader*, which has ended; with the last one, end the watch."""
        with self._lock:
            if leader not in self._leaders or self._owner != os.getpid():
                return
            self._leaders.discard(leader)
            self._tell(f"-{leader}")
            if not self._leaders:
                self._end()

    def _start(self) -> None:
        """Start the watch, and send it the process ids of all programs."""
        # The earlier watch, which may have been killed
        self._end()
        # Python inside of another program
        if not sys.executable:
            return
        # Not imported here: the watch is what needs it
        psutil = find_spec("psutil")
        if psutil is None or psutil.origin is None:
            return
        place = str(Path(psutil.origin).parents[1])
        script = [watch.__file__, str(os.getpid()), place]
        self._watch = subprocess.Popen(  # noqa: S603 - Python with a file of ours
            [sys.executable, "-I", "-S", *script],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
            cwd="/",
        )
        for leader in self._leaders:
            self._tell(f"+{leader}")

    def _tell(self, line: str) -> bool:
        """Send *line* to the watch; return False if the watch is gone."""
        if self._watch is None or self._watch.stdin is None:
            return False
        try:
            self._watch.stdin.write(f"{line}\n".encode())
        except OSError:
            return False
        return True

    def _end(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None and watch.stdin is not None:
            # The watch has nothing left to end
            watch.kill()
            watch.stdin.close()
            watch.wait()


process_guard = ProcessGuard()
"""The list of the programs of this process."""
