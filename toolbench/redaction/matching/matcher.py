"""Find many patterns of bytes in one pass. Matches may overlap, and the last one may be incomplete."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from string import ascii_letters, digits
from typing import Any

Span = tuple[int, int]
"""The start and the end of a match in the data; the byte at the end does not belong to it."""


# Of words: those of a name too, such as `test_unit`
_LETTERS = frozenset(b"_" + (digits + ascii_letters).encode())
# The end of an escape, as of a line break in JSON: its letter belongs to no word
_ESCAPE = re.compile(rb"(?:\\[abefnrtv0]|(?:%|\\x|\\u[0-9a-fA-F]{2})[0-9a-fA-F]{2})\Z")
ESCAPE_LENGTH = 6
"""The most bytes of an escape, which decides whether a word begins after it."""


class Matcher:
    """Searches for patterns in bytes; the time hardly depends on the number of patterns."""

    def __init__(self, patterns: Iterable[bytes], words: Iterable[bytes] = ()) -> None:
        """Make a search; there must be at least one pattern, and none may be empty.

        Args:
            patterns: The patterns to find anywhere.
            words: The patterns to find only as whole words: `test`, but not in `latest`.
        """
        patterns, words = set(patterns), set(words)
        self._patterns = sorted(patterns | words)
        self._words = words - patterns
        # The byte after a word decides
        self.longest = max(len(pattern) + (pattern in self._words) for pattern in self._patterns)
        """The most bytes that are read to find a pattern."""
        self.before = max(map(len, self._words), default=-ESCAPE_LENGTH) + ESCAPE_LENGTH
        """The most bytes before some data that tell whether words begin there; 0 without words."""

    @cached_property
    def _automaton(self) -> Any:
        return _automaton(self._patterns)

    @cached_property
    def _first(self) -> Any:
        """Finds matches that do not overlap, thirty times faster: mostly there is none."""
        return _automaton(self._patterns, is_overlapping=False)

    @cached_property
    def _beginnings(self) -> Any:
        return _automaton({pattern[:_BEGINNING] for pattern in self._patterns})

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether a pattern occurs in *data*, as a whole word or not."""
        return bool(self._first.find_matches_as_indexes(data))

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a pattern occurs in *data*."""
        return bool(self.spans(data)) if self._words else self.may_occur_in(data)

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of patterns in *data*; spans that overlap are merged."""
        if not self.may_occur_in(data):
            return []
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True)
        if self._words:
            matches = [match for match in matches if self._fits(data, *match)]
        return merged((start, end) for _, start, end in matches)

    def _fits(self, data: bytes, number: int, start: int, end: int) -> bool:
        """Tell whether the pattern of this *number*, at *start*, is a whole word if it has to be."""
        return self._patterns[number] not in self._words or _is_word(data, start, end)

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
        # And what tells whether a word begins there
        more = ESCAPE_LENGTH if self._words else 0
        end = data[-self.longest + 1 - more :] if self.longest + more > 1 else b""
        matches = self._beginnings.find_matches_as_indexes(end, overlapping=True)
        starts = {start for _, start, _ in matches}
        starts.update(range(max(len(end) - _BEGINNING + 1, 0), len(end)))
        for start in sorted(starts):
            may_be_word = bool(self._words) and _begins_word(end, start)
            if self._is_beginning(end[start:], may_be_word=may_be_word):
                yield len(end) - start

    def _is_beginning(self, text: bytes, *, may_be_word: bool) -> bool:
        """Tell whether *text* is the beginning of a longer pattern, or a word that may be longer."""
        for number in range(bisect_left(self._patterns, text), len(self._patterns)):
            pattern = self._patterns[number]
            if not pattern.startswith(text):
                return False
            is_word = pattern in self._words
            if (is_word and may_be_word) or not (is_word or pattern == text):
                return True
        return False


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order; spans that overlap are merged."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start < whole[-1][1]:
            whole[-1] = whole[-1][0], max(end, whole[-1][1])
        else:
            whole.append((start, end))
    return whole


def _is_word(data: bytes, start: int, end: int) -> bool:
    """Tell whether the letters from *start* to *end* are a whole word, or several."""
    goes_on = end < len(data) and data[end - 1] in _LETTERS and data[end] in _LETTERS
    return not goes_on and _begins_word(data, start)


def _begins_word(data: bytes, start: int) -> bool:
    """Tell whether no letter before *start* belongs to the word that begins there."""
    goes_on = start > 0 and data[start] in _LETTERS and data[start - 1] in _LETTERS
    return not goes_on or bool(_ESCAPE.search(data[max(start - ESCAPE_LENGTH, 0) : start]))


# Bytes compared first: only few places have the beginning of a pattern
_BEGINNING = 4


def _automaton(patterns: Iterable[bytes], *, is_overlapping: bool = True) -> Any:
    try:
        from ahocorasick_rs import (  # noqa: PLC0415 - only where there is a secret
            BytesAhoCorasick,
            Implementation,
            MatchKind,
        )
    except ImportError:
        # Pyodide
        return _OneByOne(patterns)
    # the default, a DFA, takes 5 s to build for 5,000 times the same letter
    kind = MatchKind.Standard if is_overlapping else MatchKind.LeftmostFirst
    return BytesAhoCorasick(patterns, implementation=Implementation.ContiguousNFA, matchkind=kind)


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
