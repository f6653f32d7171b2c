"""Keep the last lines that a server writes to stderr, read through a pipe.

What an older server writes about our own request `server/discover` is left out: `ProbeWarningFilter`
puts one sentence in its place.
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
# Lines until the warning has named the request
_MOST = 8

Line = tuple[str, int]
"""A line, and its size before it was cut."""


class ProbeWarningFilter:
    """Lets lines of stderr pass, but not the warning about our own `server/discover`.

    Python servers with an SDK below version 2 write it at each start: about a hundred lines of
    pydantic, which look like a failure.
    """

    def __init__(self) -> None:
        """Begin outside of such a warning."""
        self._waiting: list[Line] = []
        self._is_inside = False

    def passed(self, line: Line) -> list[Line]:
        """Return the lines to show now that *line* was written: it, none, or earlier lines too."""
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
        """Return the lines that still wait, because no more lines will come."""
        lines, self._waiting = self._waiting, []
        return lines


# Characters kept of a line
_LONGEST_LINE = 4000
# Characters read of a line: more than any secret has
_PIECE = 100_000


# Seconds between two looks whether more lines come, and the most looks
_PAUSE, _LOOKS = 0.01, 5


class StderrTail:
    """The last lines on a server's stderr, with secrets hidden.

    A warning about our own request `server/discover` is left out, with a remark in its place.
    """

    def __init__(
        self,
        redactor: Redactor = NO_SECRETS,
        *,
        lines: int = 2000,
        on_line: Callable[[str], object] = lambda line: None,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Make an empty tail.

        Args:
            redactor: Hides the secrets in later lines.
            lines: The newest lines that are kept.
            on_line: Called with each line as it was written, including secrets.
            on_change: Called after each line that is kept.
        """
        self.redactor = redactor
        # When each was read: seconds since the epoch
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
        """Return the kept lines, each with the time at which it was read: seconds since the epoch."""
        with self._lock:
            return list(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def is_read(self) -> bool:
        """Whether there is no process, or the pipe of the last one is closed and fully read."""
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
        """Wait a moment for lines that a running process has written and that are not read yet."""
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
        """Add *text* as a line of ours, if the server wrote any after line number *since*.

        It is in no recording.
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
        """Yield a file for the stderr of a process, and keep the lines that the process writes.

        Close the file after the process has started: then `is_read` becomes true when the process
        ends. A grandchild may hold the pipe open; the `with` does not wait for the grandchild.
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
    """Yield the lines of a file with their sizes. A very long line is cut after its start."""
    while piece := written.readline(_PIECE):
        start, size = piece.rstrip("\n"), len(piece.rstrip("\n"))
        while piece and not piece.endswith("\n"):
            piece = written.readline(_PIECE)
            size += len(piece.rstrip("\n"))
        yield start, size
