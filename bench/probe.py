"""A process in the Python of a peer: it times what it is told, one round at a time."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from measuring import CLOCKS, CPU, Clock

_HERE = Path(__file__).parent
_NAMES = {clock: name for name, clock in CLOCKS.items()}


class ProbeError(Exception):
    """The probe said what went wrong, or ended."""


class Probe:
    """Answers one question at a time, so that rounds there and here take turns."""

    def __init__(self, python: Path, script: str, env: Mapping[str, str]) -> None:
        self.python = python
        command = [str(python), str(_HERE / "probes" / f"{script}.py")]
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **env},
            text=True,
        )

    def ask(self, do: str, **options: Any) -> Any:
        """Return what the probe answers.

        Raises:
            ProbeError: If it failed.
        """
        assert self._process.stdin and self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"do": do, **options}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            msg = f"The probe ended with {self._process.wait()}: {self._last()}"
            raise ProbeError(msg)
        answer = json.loads(line)
        if "error" in answer:
            raise ProbeError(answer["error"])
        return answer["value"]

    def timed(self, work: str, clock: Clock = CPU, **options: Any) -> "Remote":
        """Return work of the probe as something that can be timed."""
        return Remote(self, work, clock, options)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._said):
            if stream:
                stream.close()

    def _last(self) -> str:
        self._said.seek(0)
        return (self._said.read().strip().splitlines() or ["no word"])[-1]


class Remote:
    """Work in a probe."""

    def __init__(self, probe: Probe, work: str, clock: Clock, options: Mapping[str, Any]) -> None:
        self._ask = lambda do: probe.ask(do, work=work, clock=_NAMES[clock], **options)

    def seconds(self) -> float:
        """Do a round over there; return the seconds of one call."""
        seconds: float = self._ask("time")
        return seconds

    def profile(self) -> str:
        """Return where the time goes over there."""
        told: str = self._ask("profile")
        return told
