"""Search a text in a process of its own: Python's engine cannot be stopped in ours."""

import subprocess
import sys
from pathlib import Path

from toolbench.tools.failure import RunError
from toolbench.tools.grep.processes import Process, Processes
from toolbench.tools.search.interrupts import interrupted

_PATIENCE = 10.0  # seconds for a text
_TOO_LONG = 1  # the exit code of a worker whose time is up
_WORKER = str(Path(__file__).with_name("worker.py"))


class SlowSearch:
    """Searches texts for one pattern, one after the other. While it does, others run."""

    def __init__(self, pattern: str, processes: Processes) -> None:
        """Prepare; the process, one of *processes*, starts with the first text."""
        self._pattern = pattern
        self._processes = processes
        self._process: Process | None = None

    def finds(self, text: str) -> bool:
        """Tell whether a line of *text* matches.

        Raises:
            RunError: If it takes too long, the process was stopped or cannot be started.
        """
        process = self._process or self._started()
        _send(process, text)
        answer = process.stdout.read(1) if process.stdout else b""
        if not answer:
            raise self._ended(process.wait())
        return answer == b"y"

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            self._processes.end(process)

    def _started(self) -> Process:
        command = [sys.executable, "-I", "-S", _WORKER, str(_PATIENCE)]
        quiet = subprocess.DEVNULL
        try:
            process = self._processes.start(
                command, stdin=subprocess.PIPE, stderr=quiet
            )
        except OSError as error:
            msg = f"{self._pattern!r} needs a Python beside this one, which did not start: {error}. Leave out repeats inside repeats and look-around."
            raise RunError(msg) from error
        self._process = process
        _send(process, self._pattern)
        return process

    def _ended(self, code: int) -> RunError:
        if code != _TOO_LONG:
            return interrupted()
        return RunError(
            f"{self._pattern!r} took more than {_PATIENCE:g} s on one text. Avoid repeats "
            "that can match the same text in many ways, as in (a+)+ or .*.*, or narrow "
            "path or include."
        )


def _send(process: Process, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        if process.stdin:
            process.stdin.write(b"%d\n%b" % (len(data), data))
            process.stdin.flush()
    except BrokenPipeError:  # it has ended: that there is no answer says so
        return
