"""Find secrets in dumps of bytes: lines with an offset, hexadecimal digits, and perhaps text."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from toolbench.redaction.matching.matcher import Matcher, Span

_LINE = re.compile(
    rb"""\n 0[0-9a-fA-F]{5,15} :? (?P<hex> (?:[ ]{1,8}(?:[0-9a-fA-F]{2}){1,8})+ )
         (?P<text> [ \t]+ [^\n]* )? (?=\n|\r|\Z)""",
    re.VERBOSE,
)
"""A line of a dump by `xxd`, `hexdump -C`, `od -tx1` or `od -x`: the offset begins with a zero."""
_BEGUN = re.compile(rb"0[0-9a-fA-F]{0,15}(?::?[ ][^\n]{0,200}|:)?")
"""The beginning of a line of a dump."""
_OFFSET = re.compile(rb"0[0-9a-fA-F]{5,15}:?[ ]{1,8}[0-9a-fA-F]{2}")
_GROUP = re.compile(rb"[0-9a-fA-F]+")
# Bytes: some lines
_MORE = 1_000


class _Group(NamedTuple):
    """A group of digits without a blank in a dump, and its position."""

    digits: bytes
    start: int
    end: int
    """The end of the part to mask: the end of the line, if the line also has the bytes as text."""


class DumpMatcher:
    """Searches for digits in dumps, also if the two bytes of each word are swapped (`od -x`)."""

    def __init__(self, patterns: Iterable[bytes]) -> None:
        """Make a search for *patterns*, hexadecimal digits; there must be at least one pattern."""
        self._matcher = Matcher(pattern.lower() for pattern in patterns)
        self.longest = 16 * self._matcher.longest + _MORE
        """The most bytes that a pattern takes in a dump, for data that comes in pieces."""

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a dump in *data* has a pattern."""
        return bool(self.spans(data))

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of the patterns in the dumps in *data*, with the text in the same lines."""
        groups = list(_groups(data))
        if not groups:
            return []
        return [
            span
            for digits in (_as_it_is, _swapped)
            for span in self._spans(groups, [digits(group.digits) for group in groups])
        ]

    def _spans(self, groups: list[_Group], digits: list[bytes]) -> Iterator[Span]:
        starts = [0, *accumulate(map(len, digits))]
        for start, end in self._matcher.spans(b"".join(digits)):
            first = groups[bisect_right(starts, start) - 1]
            last = groups[bisect_right(starts, end - 1) - 1]
            yield first.start, last.end

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a pattern in a dump.

        A last line that is not complete counts too, if it may be the beginning of a line of a dump.
        """
        end = data[-self.longest :]
        at = end.rfind(b"\n") + 1
        cut = len(end) - at
        if cut and not _BEGUN.fullmatch(end[at:]):
            return 0
        groups = list(_groups(end[:at]))
        if not groups or groups[-1].end < at - len(b"\r\n"):
            return cut
        sizes = [cut]
        for digits in (_as_it_is, _swapped):
            parts = [digits(group.digits) for group in groups]
            starts = [0, *accumulate(map(len, parts))]
            if begun := self._matcher.begun(b"".join(parts)):
                first = groups[bisect_right(starts, starts[-1] - begun) - 1]
                sizes.append(len(end) - end.rfind(b"\n", 0, first.start) - 1)
        return max(sizes)


def may_be_dump(data: bytes) -> bool:
    """Tell whether a text in *data*, between other bytes, may be a line of a dump."""
    return _OFFSET.search(data) is not None


def _groups(data: bytes) -> Iterator[_Group]:
    """Yield the groups of digits in the dumps in *data*."""
    if b"\n0" not in data and not data.startswith(b"0"):
        return
    for line in _LINE.finditer(b"\n" + data):
        shift = line.start("hex") - 1
        matches = list(_GROUP.finditer(line["hex"]))
        for match in matches:
            end = line.end("text") - 1 if line["text"] else shift + match.end()
            yield _Group(match[0].lower(), shift + match.start(), end)


def _as_it_is(digits: bytes) -> bytes:
    return digits


def _swapped(digits: bytes) -> bytes:
    """Return *digits*, a word of a dump, with its bytes in the opposite order."""
    return b"".join(digits[i : i + 2] for i in range(len(digits) - 2, -1, -2))
