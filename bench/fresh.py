"""A program that runs once, in a process of its own: seconds and memory."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from statistics import median

from measuring import CPU, WALL, Clock


class Program:
    """A command, started anew for each round."""

    def __init__(
        self, command: Sequence[str], clock: Clock = CPU, env: Mapping[str, str] = {}
    ) -> None:
        self._command, self._clock = list(command), clock
        self._env = {**os.environ, **env}
        # Bytes that the last round needed at most
        self.memory = 0
        self._taken: dict[Clock, list[float]] = {CPU: [], WALL: []}

    def seconds(self) -> float:
        """Run it; return the seconds it took, of its processor time or by the clock on the wall."""
        start = time.perf_counter()
        process = subprocess.Popen(
            self._command,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        self._taken[WALL].append(time.perf_counter() - start)
        self._taken[CPU].append(used.ru_utime + used.ru_stime)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            msg = f"{self._command[:3]} ended with {process.returncode}"
            raise RuntimeError(msg)
        self.memory = used.ru_maxrss * 1024
        return self._taken[self._clock][-1]

    def median(self, clock: Clock) -> float:
        """Return the median of all rounds by this *clock*; the first, which warms up, does not count."""
        return median(self._taken[clock][1:])
