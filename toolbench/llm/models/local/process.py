"""Start and end the process of llama.cpp, and find out why it ended."""

import json
import secrets
import signal
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import finalize

from toolbench.errors import ModelError
from toolbench.llm.models.transport.inbox import Send, in_thread, result
from toolbench.processes.guard import process_guard
from toolbench.runs.control import Cancellable
from toolbench.threads import daemon_thread

_SCRIPT = Path(__file__).with_name("llama_server.py")
# Lines of the log that are kept
_LINES = 40


@dataclass(frozen=True)
class Settings:
    """The settings of llama.cpp: the file, the context in tokens, the threads and the seed."""

    path: Path
    context: int
    threads: int
    seed: int


class LlamaProcess:
    """A process of llama.cpp, which listens at `address` for requests with `key`.

    Args:
        settings: The file and how to load it.
        cancel: Stops the loading.

    Raises:
        ModelError: If the file cannot be loaded.
        StoppedError: If *cancel* was cancelled.
    """

    def __init__(self, settings: Settings, cancel: Cancellable) -> None:
        self.key = secrets.token_urlsafe(24)
        self._settings = settings
        self._log: deque[str] = deque(maxlen=_LINES)
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            # an interrupt of the kernel ends the request, not the model
            start_new_session=True,
        )
        self._end = finalize(self, _end, self._process)
        # Not a method: the thread would keep this object, which is never collected then
        daemon_thread(_watch, self._process, self._log, name="toolbench-llama").start()
        try:
            self.address = self._loaded(cancel)
        except BaseException:
            # Also after an interrupt, the process is ended
            self.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def has_ended(self, within: float) -> bool:
        """Wait at most *within* seconds for the end of the process; return whether it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within)
        return not self.is_alive

    def close(self) -> None:
        """End the process; closing twice does nothing."""
        self._end()

    def reason(self) -> str:
        """Return the reason why the process ended, as the end of a sentence."""
        self.has_ended(within=2)
        code = self._process.returncode
        if code is None:
            return "it does not answer"
        if code < 0:
            with suppress(ValueError):
                return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with code {code}{self._last_words()}"

    def _loaded(self, cancel: Cancellable) -> str:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 - `Popen` got PIPE
        settings = {**vars(self._settings), "path": str(self._settings.path)}
        # Then the process writes the reason
        with suppress(BrokenPipeError):
            stream.write(json.dumps({**settings, "key": self.key}) + "\n")
            stream.flush()
        line = result(in_thread(self._read_line), cancel)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = {"error": self.reason()}
        if "address" in answer:
            return str(answer["address"])
        name = self._settings.path.name
        error = str(answer["error"]).rstrip(".")
        msg = (
            f"{name} could not be loaded: {error}{self._last_words()}. Is it a whole GGUF file, of "
            "a kind that this version of llama.cpp knows, and is there memory for it?"
        )
        raise ModelError(msg)

    def _read_line(self, send: Send) -> None:
        assert self._process.stdout is not None  # noqa: S101 - as above
        send(self._process.stdout.readline())

    def _last_words(self) -> str:
        """Return the first error in the log of the process, in brackets; empty if there is none."""
        for line in list(self._log):
            if "error" in line.lower():
                return f" ({' '.join(line.split())[:200].rstrip('.')})"
        return ""


def _watch(process: "subprocess.Popen[str]", log: "deque[str]") -> None:
    """Let *process* end with this program, even if that is killed, and keep the end of its log."""
    assert process.stderr is not None  # noqa: S101 - `Popen` got PIPE
    process_guard.add(process.pid)
    try:
        # The stream is closed
        with suppress(ValueError):
            log.extend(process.stderr)
    finally:
        process_guard.discard(process.pid)


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
