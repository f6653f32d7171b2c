"""Let ripgrep narrow down the files that may match."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

from toolbench.tools.grep.processes import Process, Processes
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
    """Runs ripgrep, as one of the processes that can be stopped."""

    def __init__(self, processes: Processes) -> None:
        """Run it as one of *processes*."""
        self._processes = processes

    @contextmanager
    def beside(
        self, walk: Walk, needed: Needed | None, include: str | None
    ) -> Iterator[Callable[[], set[str] | None]]:
        """Search the files of *walk* while it is under way, or after it if it has rules.

        Args:
            walk: Where to search.
            needed: What the files must hold.
            include: A glob they match.

        Yields:
            What to call when the walk has ended. It returns all files that hold what is
            needed, perhaps ignored ones too, as the walk names them; `None` if ripgrep is
            not there or cannot tell.
        """
        process = None if walk.has_rules else self._start(walk, needed, include)

        def found() -> set[str] | None:
            nonlocal process
            process = process or self._start(walk, needed, include)
            return None if process is None else _files(process)

        try:
            yield found
        finally:
            if process is not None:
                self._processes.end(process)

    def _start(
        self, walk: Walk, needed: Needed | None, include: str | None
    ) -> Process | None:
        program = ripgrep()
        if program is None or needed is None:
            return None
        globs = [include] if include and _SIMPLE.fullmatch(include) else []
        globs += [f"!/{_literal(path)}" for path in walk.ignored[:_MOST_GLOBS]]
        arguments = [f"--glob={glob}" for glob in globs if glob.isprintable()]
        arguments += ["--hidden", "--glob=!.git"] if walk.hidden else []
        try:
            return self._processes.start(  # no argument is an option
                [program, *_OPTIONS, *arguments, "-e", needed.regex, "--", "./"],
                cwd=walk.base,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError:
            return None


def _files(process: Process) -> set[str] | None:
    output, complaints = process.communicate()
    if complaints:
        return None
    return {os.fsdecode(path[2:]) for path in output.split(b"\0") if path}


def _literal(path: str) -> str:
    return re.sub(r"[*?\[\]{}\\]", r"\\\g<0>", path)
