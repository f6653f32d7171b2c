"""Take colours out of data, so that a secret is found even if a colour changes inside it."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from toolbench.redaction.matching.matcher import Matcher

# A colour is an escape sequence, which JSON and a repr write as `\u001b[31m` and `\x1b[31m`
_START = re.compile(rb"\\{1,8}(?:x|u00)\Z")
_REST = re.compile(rb"[0-9;:]*[A-Za-z]")
COLOURS = 4096
"""The most bytes of colours inside a secret that comes in pieces."""
_BEGUN = re.compile(rb"\x1b(?:\[[0-9;:]*)?\Z")


_ESCAPES = Matcher([b"\x1b[", b"1b["])


def has_colours(data: bytes) -> bool:
    """Tell whether *data* may have a colour, or ends in the beginning of one."""
    return _ESCAPES.may_occur_in(data) or data.endswith(b"\x1b")


def _colours(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the span of each colour in *data*; a pattern for all of it takes a hundred times longer."""
    for start, after in _ESCAPES.spans(data):
        rest = _REST.match(data, after)
        if rest is None:
            continue
        if data[start] == 0x1B:
            yield start, rest.end()
        elif written := _START.search(data[max(start - 11, 0) : start]):
            yield start - len(written[0]), rest.end()


class Bare:
    """Some data without its colours."""

    def __init__(self, data: bytes) -> None:
        """Take the colours out of *data*, and a colour that has only begun at its end."""
        self._size = len(data)
        begun = _BEGUN.search(data, max(len(data) - COLOURS, 0))
        end = len(data) if begun is None else begun.start()
        pieces, self._starts, self._shifts = list[bytes](), [0], [0]
        at = size = 0
        for start, after in _colours(data[:end]):
            pieces.append(data[at:start])
            at, size = after, size + start - at
            self._starts.append(size)
            self._shifts.append(at - size)
        self.text = b"".join([*pieces, data[at:end]])
        """The data without colours."""

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the data from the byte *start* of the text to the byte before *end*."""
        return self._position(start), self._position(end - 1) + 1

    def begun(self, size: int) -> int:
        """Return how many bytes at the end of the data have the last *size* bytes of the text."""
        return self._size - self._position(len(self.text) - size) if size else 0

    def _position(self, index: int) -> int:
        return index + self._shifts[bisect_right(self._starts, index) - 1]
