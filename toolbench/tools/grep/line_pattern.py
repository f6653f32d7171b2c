"""Match a regular expression with the lines of a file."""

import os
import re
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import takewhile
from threading import Lock
from typing import TYPE_CHECKING

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.disk import MAX_BYTES
from toolbench.tools.files.regular_file import open_regular
from toolbench.tools.grep.translate import needed_by
from toolbench.tools.search.interrupts import interrupted

if TYPE_CHECKING:
    import regex

# Bytes or characters: a file with a NUL among these is binary
_SNIFFED = 8 * 1024
_BLOCK = 64 * 1024
# Seconds of CPU for each attempt to match a line
_PATIENCE = (0.2, 0.8, 4.0)
# Steps, which take a fraction of a second at worst
_QUICK = 10_000_000
# Each can match in many ways
_CHOICE = re.compile(r"[*+?{|]|\\[1-9]|\(\?P=")
# A repeated group, or the verbose mode, where comments may be in between
_NESTED = re.compile(r"\)\s*[*+{]|\(\?\w*x")
_SET = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_NO_LINE_END = re.compile(rf"\\[^nx]|{_SET}", re.DOTALL)
_DIFFERENT = re.compile(rf"\\.|{_SET}|(?P<brace>\{{)(?!(?:\d+(?:,\d*)?|,\d*)\}})", re.DOTALL)
# Warning filters belong to the whole process
_compiling = Lock()


class LinePattern:
    """A regular expression that is matched with the lines of files."""

    def __init__(self, pattern: str, stopped: Callable[[], bool] = lambda: False) -> None:
        """Compile *pattern*, which must match inside one line; case is ignored.

        Args:
            pattern: The regular expression.
            stopped: A function that is called regularly; the search stops if it returns True.

        Raises:
            RunError: If *pattern* is not a regular expression, or contains a line end.
        """
        if re.search(r"\n|\\n|\\x0[aA]", _NO_LINE_END.sub("", pattern)):
            msg = f"{pattern!r} spans several lines, but lines are searched one by one. Search for a part within one line."
            raise RunError(msg)
        self._pattern = pattern
        self._regex = _compiled(pattern)
        self.needed = needed_by(pattern)
        """A text that every matching file contains; None if there is no such text."""
        self.unread = 0
        """The number of files that could not be read."""
        self._stopped = stopped
        choices = len(_CHOICE.findall(pattern))
        self._short = 0 if _NESTED.search(pattern) else _QUICK ** (1 / (choices + 1))

    def accepts(self, path: str) -> bool:
        """Tell whether a line of the file at *path* matches; False for a binary or unreadable file.

        Raises:
            RunError: If the search takes too long, or is interrupted.
        """
        try:
            file = open_regular(path)
        except FileNotFoundError:
            # It was removed since it was listed
            return False
        except OSError:
            self.unread += 1
            return False
        try:
            start = os.read(file, _BLOCK)
            # True for nearly every file, so this path is fast
            is_all = len(start) < _BLOCK
            if is_all and not self._may_be_in(start):
                return False
            if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                return self._in_utf16(file, start)
            if b"\0" in start[:_SNIFFED]:
                return False
            start = start.removeprefix(BOM_UTF8)
            if is_all:
                return self._in_lines(start)
            blocks = takewhile(self._goes_on, _whole_lines(file, start))
            return any(map(self._in_lines, filter(self._may_be_in, blocks)))
        except IsADirectoryError:
            return False
        except OSError:
            self.unread += 1
            return False
        finally:
            os.close(file)

    def _goes_on(self, _: object) -> bool:
        return not self._stopped()

    def _may_be_in(self, data: bytes) -> bool:
        return self.needed is None or self.needed.may_be_in(data)

    def _in_lines(self, data: bytes) -> bool:
        """Tell whether a line of *data*, a part of a file, matches.

        The caller has checked that *data* contains the text without which no line can match.
        """
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
        # If the whole block does not match, no line does
        if self.needed:
            # Each single line may be quick
            with suppress(TimeoutError):
                match = self._attempt(text, _PATIENCE[0])
                if match is None or "\n" not in match.group():
                    return match is not None
        return any(map(self._in_line, takewhile(self._goes_on, text.split("\n"))))

    def _attempt(self, text: str, seconds: float) -> "regex.Match[str] | None":
        """Search *text* for the pattern, without blocking other threads.

        Raises:
            TimeoutError: If the search takes more than *seconds* of CPU time.
        """
        return self._regex.search(text, timeout=seconds, concurrent=True)

    def _in_line(self, line: str) -> bool:
        """Tell whether *line* matches.

        The search gets a time limit. If the time is over, the search checks for an interrupt, and
        then tries again with more time. A short line is searched without a time limit: its search
        cannot take long, and the limit would take three times as long as the search itself.

        Raises:
            RunError: If the search takes too long, or was interrupted.
        """
        if len(line) < self._short:
            return self._regex.search(line) is not None
        for seconds in _PATIENCE:
            try:
                return self._attempt(line, seconds) is not None
            except TimeoutError:
                if self._stopped():
                    raise interrupted() from None
        msg = (
            f"{self._pattern!r} took more than {_PATIENCE[-1]:g} s on one line. Avoid repeats "
            "that can match the same text in many ways, as in (a+)+ or .*.*, or narrow path "
            "or include."
        )
        raise RunError(msg)


def _whole_lines(file: int, data: bytes) -> Iterator[bytes]:
    """Yield *data* and the rest of *file*, in blocks that end at the end of a line.

    A line that is longer than MAX_BYTES is cut.
    """
    while more := os.read(file, max(_BLOCK, len(data))):
        cut = data.rfind(b"\n") + 1 or len(data) * (len(data) > MAX_BYTES)
        if cut:
            yield data[:cut]
        data = data[cut:] + more
    yield data


def _compiled(pattern: str) -> "regex.Pattern[str]":
    """Compile *pattern*, a pattern for `re`, with the package `regex`, which has a time limit.

    Raises:
        RunError: If *pattern* is not a regular expression.
    """
    import regex  # noqa: PLC0415 - 50 ms, only for searches

    try:
        with _compiling, warnings.catch_warnings():
            # Warnings of future and of old syntax
            warnings.simplefilter("ignore")
            # `regex` accepts more than `re`
            re.compile(pattern, re.IGNORECASE)
            flags = regex.IGNORECASE | regex.MULTILINE | regex.VERSION0
            return regex.compile(_DIFFERENT.sub(_as_in_re, pattern), flags)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        msg = (
            f"{pattern!r} is not a valid regular expression: {error}. Put a backslash before "
            "each of ( ) [ ] { } * + ? to match it literally."
        )
        raise RunError(msg) from None


def _as_in_re(part: re.Match[str]) -> str:
    """Escape *part*, such as `{e<=1}` or `[[:alpha:]]`, to which only `regex` gives a special meaning."""
    text = part[0]
    if part["brace"]:
        return r"\{"
    return text[0] + text[1:].replace("[", r"\[") if text[0] == "[" else text
