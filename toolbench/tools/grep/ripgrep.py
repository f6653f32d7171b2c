"""Select the files that may match a pattern, with the program ripgrep."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from selectors import EVENT_READ, PollSelector
from shutil import which
from threading import Lock
from time import monotonic

from toolbench.processes.guard import process_guard
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.grep.translate import Needed
from toolbench.tools.search.folder_walk import Walk

_OPTIONS = (
    "--no-config",
    "--no-messages",
    "--no-ignore",
    "--text",
    "--no-unicode",
    "--ignore-case",
    "--files-with-matches",
    "--null",
    "--regex-size-limit=10M",
    # The default is 1 GB
    "--dfa-size-limit=100M",
)
# Has the same meaning in ripgrep
_SIMPLE = re.compile(r"\*\.(?:\w+|\{\w+(?:,\w+)*\})")
_MOST_GLOBS = 500
# Seconds to wait for ripgrep's output
_PATIENCE = 60.0
# Seconds without output: most searches end before, and need no guard, which starts a process
_QUICK = 0.2
# Bytes of paths
_MOST_OUTPUT = 100_000_000
_CHUNK = 1 << 16
# Bytes: ripgrep keeps each whole line in memory
_MOST_MEMORY = 1_000_000_000

_Process = subprocess.Popen[bytes]


def ripgrep() -> str | None:
    """Return the path of ripgrep; None if ripgrep is neither on the PATH nor beside this Python."""
    return which("rg") or which("rg", path=str(Path(sys.executable).parent))


class Ripgrep:
    """The list of the ripgrep processes that run.

    Their time and memory are limited. If this process is killed, they end too: at their next output,
    or by the guard.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._running: set[_Process] = set()
        self._lock = Lock()

    def stop(self) -> None:
        """Kill all running processes."""
        with self._lock:
            for process in self._running:
                process.kill()

    @contextmanager
    def beside(
        self, walk: Walk, needed: Needed | None, include: str | None
    ) -> Iterator[Callable[[], set[str] | None]]:
        """In the `with` block, search the files of *walk* for a text with ripgrep, during the walk itself.

        If there are .gitignore rules, the search begins when the walk has ended, because only then
        are the directories known that the search must leave out.

        Args:
            walk: The walk through the files; the caller iterates over it in the block.
            needed: The text that the files must contain.
            include: A glob that the files must match.

        Yields:
            A function to call when the walk has ended. The function returns the paths of all files
            that contain the needed text. Some of these files may be ignored files. The function
            returns None if ripgrep is not installed or cannot do this search, and raises RunError
            if the search takes too long.
        """
        process = None if walk.has_rules else self._start(walk, needed, include)

        def names() -> set[str] | None:
            nonlocal process
            process = process or self._start(walk, needed, include)
            return None if process is None else _files(process)

        try:
            yield names
        finally:
            if process is not None:
                self._end(process)

    def _start(self, walk: Walk, needed: Needed | None, include: str | None) -> _Process | None:
        program = ripgrep()
        if program is None or needed is None or not _can_leave_out(walk.left_out):
            return None
        globs = [include] if include and _SIMPLE.fullmatch(include) else []
        left_out = [*walk.left_out, *walk.ignored[:_MOST_GLOBS]]
        globs += [f"!/{_literal(path)}" for path in left_out]
        arguments = [f"--glob={glob}" for glob in globs if glob.isprintable()]
        arguments += ["--hidden", "--glob=!.git"] if walk.hidden else []
        arguments = [*_OPTIONS, *arguments, "-e", needed.regex, "--", "./"]
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell; no argument is an option
                [program, *arguments],
                # The descriptors are read directly; a buffer would need more memory
                bufsize=0,
                cwd=walk.base,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError:
            return None
        _limit_memory(process)
        with self._lock:
            self._running.add(process)
        # `stop` was called before the process was in `_running`
        if walk.is_stopped:
            process.kill()
        return process

    def _end(self, process: _Process) -> None:
        with self._lock:
            self._running.discard(process)
        process.kill()
        # Waits, and closes the pipes
        with process:
            pass
        process_guard.discard(process.pid)


def _limit_memory(process: _Process) -> None:
    """Limit the memory of *process*, if the system supports this."""
    # Windows, macOS, or it has ended
    with suppress(ImportError, AttributeError, OSError):
        import resource  # noqa: PLC0415 - not there on Windows

        limits = (_MOST_MEMORY, _MOST_MEMORY)
        resource.prlimit(process.pid, resource.RLIMIT_DATA, limits)


def _files(process: _Process) -> set[str] | None:
    """Return the paths that *process* prints; None if they are not complete.

    Raises:
        RunError: If the search takes too long.
    """
    output = _output(process)
    if output is None:
        return None
    return {os.fsdecode(path[2:]) for path in output.split(b"\0") if path}


def _output(process: _Process) -> bytes | None:
    """Return the output of *process*; None if it is too long, or if the process did not succeed."""
    if process.stdout is None or process.stderr is None:
        return None
    output = bytearray()
    end = monotonic() + _PATIENCE
    is_guarded = False
    # Needs no descriptor, and no thread
    with PollSelector() as selector:
        selector.register(process.stdout, EVENT_READ)
        while len(output) <= _MOST_OUTPUT:
            wait = left = max(0, end - monotonic())
            if not is_guarded:
                wait = min(left, _QUICK)
            if not selector.select(wait):
                if wait < left:
                    process_guard.add(process.pid)
                    is_guarded = True
                    continue
                process.kill()
                msg = f"ripgrep took more than {_PATIENCE:g} s. Narrow path or include."
                raise RunError(msg)
            data = os.read(process.stdout.fileno(), _CHUNK)
            if not data:
                break
            output += data
    if len(output) > _MOST_OUTPUT or process.stderr.read(1):
        return None
    return bytes(output) if process.wait() >= 0 else None


def _can_leave_out(directories: set[str]) -> bool:
    """Tell whether *directories* can be excluded from ripgrep's search by globs."""
    return len(directories) <= _MOST_GLOBS and "".join(directories).isprintable()


def _literal(path: str) -> str:
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)
