"""Processes that another thread can stop."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

Process = subprocess.Popen[bytes]


class Processes:
    """Those under way."""

    def __init__(self) -> None:
        """Begin without any."""
        self._running: set[Process] = set()
        self._lock = Lock()

    def start(self, command: Sequence[str], **options: Any) -> Process:
        """Start *command*, without a shell; what it prints comes through a pipe.

        Raises:
            OSError: If it cannot be started.
        """
        process = subprocess.Popen(command, stdout=subprocess.PIPE, **options)  # noqa: S603 - no shell
        with self._lock:
            self._running.add(process)
        return process

    def end(self, process: Process) -> None:
        """Kill *process*, and close its pipes."""
        with self._lock:
            self._running.discard(process)
        process.kill()
        with suppress(BrokenPipeError), process:  # waits, and closes the pipes
            pass

    def stop(self) -> None:
        """Kill all of them."""
        with self._lock:
            for process in self._running:
                process.kill()
