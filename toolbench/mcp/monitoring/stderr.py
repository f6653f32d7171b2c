"""Read what a server writes to stderr through a pipe, and keep the last lines.

Older servers write a long warning when the client sends the request `server/discover`.
`ProbeWarningFilter` replaces this warning by one sentence.
"""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from time import time
from typing import TextIO

import anyio

from toolbench.display.escape import STYLE
from toolbench.redaction.redactor import NO_SECRETS, Redactor

REMARK = (
    "[toolbench] This server does not know server/discover, with which toolbench asks for the newer "
    "protocol; its warning about that is left out. This is not an error."
)
ENDED = (
    "[toolbench] The process ended before it had answered server/discover, with which toolbench asks for "
    "the newer protocol. Some older servers do; it is started again in the older protocol."
)

_BEGIN = re.compile(
    r"Failed to validate request: \d|ValidationError: \d+ validation errors for ClientRequest"
)
_QUESTION = "input_value='server/discover'"
_BODY = re.compile(
    r"""
    \s{25}.*                                    # a wrapped line, by rich
    | [A-Z]\w+Request(\.[\w\[\],-]+)*           # the place of an error
    | \s+\S.*\[type=\w+,\ input_value=.*        # the error there
    | \s+For\ further\ information\ visit\ .*
    """,
    re.VERBOSE,
)
# The most lines before the warning names the request
_MOST = 8

Line = tuple[str, int]
"""A line, and its length before it was cut."""


class ProbeWarningFilter:
    """Removes the warning about the request `server/discover` from the lines of stderr.

    Servers that use a version of the Python SDK below 2 write this warning at each start. It
    consists of about a hundred lines from pydantic, and looks like a failure although it is
    harmless.
    """

    def __init__(self) -> None:
        """Create a filter that is not inside a warning yet."""
        self._waiting: list[Line] = []
        self._is_inside = False

    def passed(self, line: Line) -> list[Line]:
        """Add *line*, and return the lines to show now, which may include earlier lines."""
        text = line[0]
        if self._is_inside:
            if _BODY.fullmatch(text):
                return []
            self._is_inside = False
        if not self._waiting and not _BEGIN.search(text):
            return [line]
        if self._waiting and not _BODY.fullmatch(text):
            return [*self.rest(), *self.passed(line)]
        self._waiting.append(line)
        if _QUESTION in text:
            self._waiting, self._is_inside = [], True
            return [(REMARK, len(REMARK))]
        if len(self._waiting) >= _MOST:
            return self.rest()
        return []

    def rest(self) -> list[Line]:
        """Return the lines that are still held back; call this after the last line."""
        lines, self._waiting = self._waiting, []
        return lines


# The most characters that are kept of a line
_LONGEST_LINE = 4000
# The most characters that are read of a line: more than any secret has
_PIECE = 100_000


# Seconds between two checks for more lines, and the most checks
_PAUSE, _LOOKS = 0.01, 5


class StderrTail:
    """The last lines on a server's stderr, with secrets hidden.

    A warning about the client's request `server/discover` is replaced by a remark.
    """

    def __init__(
        self,
        redactor: Redactor = NO_SECRETS,
        *,
        lines: int = 2000,
        on_line: Callable[[str], object] = lambda line: None,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a tail that has no lines yet.

        Args:
            redactor: Hides secrets in the lines that are read from now on.
            lines: How many of the last lines to keep.
            on_line: A function that is called with each line, exactly as it was written: secrets
                are not hidden.
            on_change: A function that is called after each line that is kept.
        """
        self.redactor = redactor
        # The lines with the times at which they were read, in seconds since the epoch
        self._lines = deque[tuple[float, str]](maxlen=lines)
        self._filter = ProbeWarningFilter()
        self._lock = Lock()
        self._on_line = on_line
        self._on_change = on_change
        self._read = Event()
        # There is no pipe yet
        self._read.set()
        self.total = 0
        """The number of all lines, including lines that are not kept."""

    def __iter__(self) -> Iterator[str]:
        return iter([line for _, line in self.timed()])

    def timed(self) -> list[tuple[float, str]]:
        """Return the kept lines, each with the time of reading in seconds since the epoch."""
        with self._lock:
            return list(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def is_read(self) -> bool:
        """Whether there is no process, or all output of the last process has been read."""
        return self._read.is_set()

    @property
    def text(self) -> str:
        """The kept lines as one string."""
        return "\n".join(self)

    def last(self, count: int, *, since: int = 0) -> list[str]:
        """Return the last *count* non-empty lines after line number *since*, without colours."""
        new = self.total - since
        if new <= 0:
            return []
        lines = [STYLE.sub("", line) for line in list(self)[-new:]]
        return [line for line in lines if line.strip()][-count:]

    async def settled(self) -> None:
        """Wait briefly for lines that a running process has written but that are not read yet."""
        for _ in range(_LOOKS):
            before = self.total
            if not self.is_read:
                await anyio.sleep(_PAUSE)
            if self.total == before:
                return

    def add(self, line: str) -> None:
        """Add one line."""
        line = line.rstrip("\r\n")
        self._take((line, len(line)), self._filter)

    def remark(self, text: str, *, since: int) -> None:
        """Add *text* as a line of this client, if the server wrote lines after line number *since*.

        The line is not recorded.
        """
        if self.total > since:
            self._keep(text, len(text))

    def _take(self, line: Line, only: ProbeWarningFilter) -> None:
        # Recordings are complete
        self._on_line(line[0])
        for text, size in only.passed(line):
            self._keep(text, size)

    def _keep(self, line: str, size: int) -> None:
        line = self.redactor.text(line)
        if len(line) > _LONGEST_LINE:
            line = f"{line[:_LONGEST_LINE]}… ({size:,} characters)"
        with self._lock:
            self._lines.append((time(), line))
            self.total += 1
        self._on_change()

    @contextmanager
    def pipe(self) -> Iterator[TextIO]:
        """Yield a file for the stderr of a process, and keep the lines that are written to it.

        Leave the `with` block as soon as the process has started. Only then can `is_read` become
        true when the process ends. If a child of the process keeps the pipe open, leaving the block
        does not wait for the child.
        """
        reading, writing = os.pipe()
        done = self._read = Event()
        only = ProbeWarningFilter()

        def drain() -> None:
            with (
                suppress(OSError),
                open(reading, encoding="utf-8", errors="replace") as written,  # noqa: PTH123 - a descriptor
            ):
                for line in _lines(written):
                    self._take(line, only)
            for text, size in only.rest():
                self._keep(text, size)
            done.set()

        Thread(target=drain, name="toolbench-stderr", daemon=True).start()
        with os.fdopen(writing, "w") as file:
            try:
                yield file
            finally:
                file.close()
                done.wait(0.2)


def _lines(written: TextIO) -> Iterator[Line]:
    """Yield the lines of a file with their lengths; very long lines are cut."""
    while piece := written.readline(_PIECE):
        start, size = piece.rstrip("\n"), len(piece.rstrip("\n"))
        while piece and not piece.endswith("\n"):
            piece = written.readline(_PIECE)
            size += len(piece.rstrip("\n"))
        yield start, size
