"""Find many patterns of bytes in one pass. Matches may overlap, and the last one may be incomplete."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

Span = tuple[int, int]
"""The start and the end of a match in the data; the byte at the end does not belong to it."""


class Matcher:
    """Searches for patterns in bytes; the time hardly depends on the number of patterns."""

    def __init__(self, patterns: Iterable[bytes]) -> None:
        """Make a search for *patterns*; there must be at least one, and none may be empty."""
        self._patterns = sorted(set(patterns))
        self.longest = max(map(len, self._patterns))
        """The number of bytes of the longest pattern."""

    @cached_property
    def _automaton(self) -> Any:
        return _automaton(self._patterns)

    @cached_property
    def _beginnings(self) -> Any:
        return _automaton({pattern[:_BEGINNING] for pattern in self._patterns})

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a pattern occurs in *data*."""
        return bool(self._automaton.find_matches_as_indexes(data))

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of patterns in *data*; spans that overlap are merged."""
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return merged((start, end) for _, start, end in matches)

    def spans_beside(self, cut: bytes, data: bytes) -> list[Span]:
        """Return the spans in *data* of parts of patterns that stand directly before or after *cut*.

        *cut* is a text in place of a part that was cut out, such as an ellipsis. A part before
        *cut* is the beginning of a pattern, and a part after *cut* is the end of a pattern.
        """
        spans = list[Span]()
        at = data.find(cut)
        while at >= 0:
            end = at + len(cut)
            before = data[max(at - self.longest, 0) : at]
            behind = data[end : end + self.longest]
            spans.append((at - self.begun(before), at))
            spans.append((end, end + self._reversed.begun(behind[::-1])))
            at = data.find(cut, end)
        return spans

    @cached_property
    def _reversed(self) -> "Matcher":
        return Matcher(pattern[::-1] for pattern in self._patterns)

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a pattern, at most."""
        return next(self.beginnings(data), 0)

    def beginnings(self, data: bytes) -> Iterator[int]:
        """Yield each number of bytes at the end of *data* that may begin a pattern, the largest first."""
        end = data[-self.longest + 1 :] if self.longest > 1 else b""
        matches = self._beginnings.find_matches_as_indexes(end, overlapping=True)
        starts = {start for _, start, _ in matches}
        starts.update(range(max(len(end) - _BEGINNING + 1, 0), len(end)))
        sizes = (len(end) - start for start in sorted(starts))
        yield from (size for size in sizes if self._is_beginning(end[-size:]))

    def _is_beginning(self, text: bytes) -> bool:
        """Tell whether *text* is the beginning of a longer pattern."""
        index = bisect_left(self._patterns, text)
        if self._patterns[index : index + 1] == [text]:
            index += 1
        return any(p.startswith(text) for p in self._patterns[index : index + 1])


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order; spans that overlap are merged."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start < whole[-1][1]:
            whole[-1] = whole[-1][0], max(end, whole[-1][1])
        else:
            whole.append((start, end))
    return whole


# Bytes compared first: only few places have the beginning of a pattern
_BEGINNING = 4


def _automaton(patterns: Iterable[bytes]) -> Any:
    try:
        from ahocorasick_rs import (  # noqa: PLC0415 - only where there is a secret
            BytesAhoCorasick,
            Implementation,
        )
    except ImportError:
        # Pyodide
        return _OneByOne(patterns)
    # the default, a DFA, takes 5 s to build for 5,000 times the same letter
    return BytesAhoCorasick(patterns, implementation=Implementation.ContiguousNFA)


class _OneByOne:
    """A replacement for ahocorasick-rs in pure Python, with the methods that are used here.

    It searches for one pattern after another.
    """

    def __init__(self, patterns: Iterable[bytes]) -> None:
        self._patterns = list(patterns)

    def find_matches_as_indexes(
        self, data: bytes, *, overlapping: bool = False
    ) -> list[tuple[int, int, int]]:
        """Return the matches in *data*. Each match is the index of the pattern, the start and the end.

        If *overlapping* is false, return at most one match.
        """
        matches = []
        for number, pattern in enumerate(self._patterns):
            at = data.find(pattern)
            while at >= 0:
                matches.append((number, at, at + len(pattern)))
                if not overlapping:
                    return matches
                at = data.find(pattern, at + 1)
        return matches
