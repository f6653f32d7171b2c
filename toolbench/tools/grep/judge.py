"""Decide whether a pattern matches in a file, line by line."""

import os
import re
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import takewhile
from threading import Lock
from typing import Self

from toolbench.tools.failure import RunError
from toolbench.tools.files.disk import MAX_BYTES
from toolbench.tools.grep.cost import guessed
from toolbench.tools.grep.processes import Processes
from toolbench.tools.grep.slow import SlowSearch
from toolbench.tools.grep.translate import needed_by

_SNIFFED = 8 * 1024  # a NUL in so many first characters makes a file binary
_BLOCK = 64 * 1024
_QUICK = 50_000_000  # steps: some seconds at worst, in which no other thread gets on
_NO_LINE_END = re.compile(r"\\[^nx]|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_compiling = Lock()  # warning filters belong to the whole process


class Judge:
    """A regular expression, asked of one file after the other; then it is closed."""

    def __init__(
        self,
        pattern: str,
        processes: Processes,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Compile *pattern*, which is to match within a line, whatever the case.

        Args:
            pattern: The regular expression.
            processes: Where the process is to be found that searches what may take long.
            stopped: Tells whether to give up.

        Raises:
            RunError: If it is no regular expression, or reaches over a line end.
        """
        if re.search(r"\n|\\n|\\x0[aA]", _NO_LINE_END.sub("", pattern)):
            msg = f"{pattern!r} reaches over a line end, but lines are searched one by one. Look for a part that is in one line."
            raise RunError(msg)
        self._line = _compiled(pattern, re.IGNORECASE)
        self.needed = needed_by(pattern)
        """What a file must hold; `None` if only a look at each line can tell."""
        if self.needed:  # then no line matches if a block of lines does not
            self._block = _compiled(pattern, re.IGNORECASE | re.MULTILINE)
        self._cost = self.needed.cost if self.needed else guessed(pattern)
        self._steps = cache(self._cost.steps)
        self._stopped = stopped
        self._slow = SlowSearch(pattern, processes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._slow.close()

    def accepts(self, path: str) -> bool:
        """Tell whether a line of the file at *path* matches; not in binary or unreadable ones.

        Raises:
            RunError: If that takes too long, or was interrupted.
        """
        try:
            file = os.open(
                path, os.O_RDONLY
            )  # half the time of Path.open, for every file
        except OSError:
            return False
        try:
            start = os.read(file, _BLOCK)
            is_all = len(start) < _BLOCK  # as of nearly every file, so be quick
            if is_all and not self._may_be_in(start):
                return False
            if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                return self._in_utf16(file, start)
            if b"\0" in start[:_SNIFFED]:
                return False
            start = start.removeprefix(BOM_UTF8)
            if is_all:
                return self._in_lines(start)
            blocks = filter(self._may_be_in, _whole_lines(file, start))
            return any(map(self._in_lines, blocks))
        except OSError:  # a directory, or a disk that fails
            return False
        finally:
            os.close(file)

    def _may_be_in(self, data: bytes) -> bool:
        return self.needed is None or self.needed.may_be_in(data)

    def _in_lines(self, data: bytes) -> bool:
        """Tell whether a line of *data* matches, which holds what is needed."""
        if self.needed and self.needed.is_all and data.isascii():
            return True
        return self._in_text(data.decode(errors="surrogateescape"))

    def _in_utf16(self, file: int, start: bytes) -> bool:
        if os.fstat(file).st_size > MAX_BYTES:
            return False
        rest = iter(lambda: os.read(file, _BLOCK), b"")
        text = b"".join([start, *rest]).decode("utf-16", "replace")
        return "\0" not in text[:_SNIFFED] and self._in_text(text)

    def _in_text(self, text: str) -> bool:
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if not text:
            return False
        text = text.removesuffix("\n")
        steps = self._steps(len(text))
        if steps > _QUICK:
            lengths = [*map(len, text.split("\n"))]
            if self._steps(max(lengths)) > _QUICK:
                return self._slow.finds(text)
            if not self._cost.crosses:
                steps = sum(map(self._steps, lengths))
        if self.needed and steps <= _QUICK:
            found = self._block.search(text)
            if found is None or "\n" not in found.group():
                return found is not None
        lines: Iterable[str] = text.split("\n")
        if steps > _QUICK:
            lines = takewhile(lambda _: not self._stopped(), lines)
        return any(map(self._line.search, lines))


def _whole_lines(file: int, data: bytes) -> Iterator[bytes]:
    """Yield *data* and the rest of *file*, cut at line ends; in lines over 10 MB, anywhere."""
    while more := os.read(file, max(_BLOCK, len(data))):
        cut = data.rfind(b"\n") + 1 or len(data) * (len(data) > MAX_BYTES)
        if cut:
            yield data[:cut]
        data = data[cut:] + more
    yield data


def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        with _compiling, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of syntax yet to come
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        msg = (
            f"{pattern!r} is not a valid regular expression: {error}. Put a backslash before "
            "each of ( ) [ ] { } * + ? that is meant as it stands."
        )
        raise RunError(msg) from None
