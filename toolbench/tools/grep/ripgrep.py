"""Let ripgrep narrow down the files that may match."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which
from threading import Lock

from toolbench.tools.grep.translate import Needed
from toolbench.tools.search.walk import Walk

_OPTIONS = (
    "--no-config",
    "--no-messages",
    "--no-ignore",
    "--text",
    "--no-unicode",
    "--ignore-case",
    "--files-with-matches",
    "--null",
)
_SIMPLE = re.compile(r"\*\.(?:\w+|\{\w+(?:,\w+)*\})")  # means the same to ripgrep
_MOST_GLOBS = 500


def ripgrep() -> str | None:
    """Return the path of ripgrep, from PATH or from beside this Python; `None` without it."""
    return which("rg") or which("rg", path=str(Path(sys.executable).parent))


class Ripgrep:
    """Runs ripgrep, and can stop it from another thread."""

    def __init__(self) -> None:
        """Begin without a process."""
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()

    def stop(self) -> None:
        """Kill the processes under way."""
        with self._lock:
            for process in self._running:
                process.kill()

    def files_with(
        self, needed: Needed | None, walk: Walk, include: str | None
    ) -> set[str] | None:
        """Return all files below *walk* that hold what is needed, and perhaps ignored ones.

        Args:
            needed: What to look for.
            walk: A walk that has ended: where it went, and what it left out.
            include: A glob the files wanted match.

        Returns:
            Absolute paths; `None` if ripgrep is not there, or cannot tell.
        """
        program = ripgrep()
        if program is None or needed is None:
            return None
        globs = [include] if include and _SIMPLE.fullmatch(include) else []
        globs += [f"!/{_literal(path)}" for path in walk.ignored[:_MOST_GLOBS]]
        hidden = ["--hidden", "--glob=!.git"] if walk.hidden else []
        arguments = [f"--glob={glob}" for glob in globs if glob.isprintable()]
        command = [
            program,
            *_OPTIONS,
            *arguments,
            *hidden,
            "-e",
            needed.regex,
            "--",
            "./",
        ]
        found = self._output(command, walk.base)
        if found is None:
            return None
        base = str(walk.base).rstrip("/")
        return {base + os.fsdecode(path[1:]) for path in found.split(b"\0")}

    def _output(self, command: list[str], directory: Path) -> bytes | None:
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell, and no argument is an option
                command,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError:
            return None
        with self._lock:
            self._running.add(process)
        try:
            output, complaints = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return None if complaints else output


def _literal(path: str) -> str:
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)
