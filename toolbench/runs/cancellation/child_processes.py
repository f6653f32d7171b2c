"""Remember the processes that a run starts, to kill them if the run must be stopped by force."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from threading import Thread
from typing import Any
from weakref import WeakSet


class Children:
    """The list of the processes that one run started.

    A process that a thread of the run starts through `subprocess` is known on every system. On
    Linux, a process started in another way is known too.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._started: WeakSet[Popen[Any]] = WeakSet()

    def add(self, process: "Popen[Any]") -> None:
        """Add *process* to the list."""
        self._started.add(process)

    def kill(self, threads: list[Thread]) -> None:
        """Kill the processes of this list, others that *threads* started, and all their children."""
        import psutil  # noqa: PLC0415 - only to stop a run by force

        known = [p.pid for p in list(self._started) if p.returncode is None]
        for pid in {*known, *_of(threads)}:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                for victim in [*process.children(recursive=True), process]:
                    with suppress(psutil.NoSuchProcess):
                        victim.kill()


def _of(threads: list[Thread]) -> Iterator[int]:
    for thread in threads:
        with suppress(OSError):
            pids = Path(f"/proc/self/task/{thread.native_id}/children").read_text()
            yield from map(int, pids.split())
