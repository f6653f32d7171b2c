"""Take colours out of data, so that a secret is found even if a colour changes inside it."""

import re
from bisect import bisect_right

from toolbench.redaction.matching.matcher import Matcher

_COLOUR = re.compile(rb"(?:\x1b|\\+(?:x1b|u001b))\[[0-9;:]*[A-Za-z]")
"""An escape sequence for a colour, also as JSON and a repr write it."""
COLOURS = 4096
"""The most bytes of colours inside a secret that comes in pieces."""
_BEGUN = re.compile(rb"\x1b(?:\[[0-9;:]*)?\Z")


_ESCAPES = Matcher([b"\x1b", b"1b["])


def has_colours(data: bytes) -> bool:
    """Tell whether *data* may have a colour."""
    return _ESCAPES.may_occur_in(data)


class Bare:
    """Some data without its colours."""

    def __init__(self, data: bytes) -> None:
        """Take the colours out of *data*, and a colour that has only begun at its end."""
        self._size = len(data)
        begun = _BEGUN.search(data, max(len(data) - COLOURS, 0))
        end = len(data) if begun is None else begun.start()
        pieces, self._starts, self._shifts = list[bytes](), [0], [0]
        at = size = 0
        for colour in _COLOUR.finditer(data, 0, end):
            pieces.append(data[at : colour.start()])
            at, size = colour.end(), size + colour.start() - at
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
