"""Find many byte patterns in one pass, even if colour codes or the ends of chunks split them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from string import ascii_letters, digits
from typing import Any

Span = tuple[int, int]
"""The index of a match's first byte, and the index after its last byte."""

# Of words: those of a name too, such as `test_unit`
_LETTERS = frozenset(b"_" + (digits + ascii_letters).encode())
# In JSON and a repr, the letter of a line break belongs to no word
_ESCAPES = (b"\\n", b"\\r", b"\\t")
BEFORE = 2
"""The number of bytes to look back to see whether a word begins at the start of some data."""


class Matcher:
    """Searches bytes for many patterns at once, almost as fast as for a single pattern."""

    def __init__(self, patterns: Iterable[bytes], words: Iterable[bytes] = ()) -> None:
        """Make a search; no pattern may be empty.

        Args:
            patterns: The patterns to find anywhere.
            words: The patterns to find only as whole words: the word `test` is not found in
                `latest`.
        """
        self.patterns = frozenset(patterns)
        self.words = frozenset(words) - self.patterns
        self._all = [*self.patterns, *self.words]
        self._longest = max(map(len, self._all), default=0)
        self._shortest = min(map(len, self._all), default=0)

    def __len__(self) -> int:
        """Return the number of patterns."""
        return len(self._all)

    @cached_property
    def _automaton(self) -> Any:
        return _automaton(self._all)

    @cached_property
    def _first(self) -> Any:
        """An automaton that finds no overlapping matches, and so is thirty times faster."""
        return _automaton([*self._all, _LONG_PATTERN], is_overlapping=False)

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether a pattern occurs in *data*, as a whole word or not."""
        if len(data) < self._shortest:
            return False
        if len(data) * len(self._all) < _LITTLE:
            # As what is printed: the automaton would let other threads run each time
            return any(pattern in data for pattern in self._all)
        return bool(self._first.find_matches_as_indexes(data))

    def spans(self, data: bytes) -> list[Span]:
        """Return the span of each pattern in *data*, in any order; spans may overlap."""
        if not self.may_occur_in(data):
            return []
        spans = list[Span]()
        for number, start, end in self._automaton.find_matches_as_indexes(data, overlapping=True):
            if self._all[number] not in self.words or _is_word(data, start, end):
                spans.append((start, end))
        return spans

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a pattern.

        A whole word at the end is counted, too, because the next bytes may make it longer.
        """
        end = data[-self._longest :]
        if len(end.translate(None, self._first_bytes)) == len(end):
            return 0
        for start in range(len(end)):
            size = len(end) - start
            if size < _BEGINNING:
                if end[start:] in self._short_beginnings:
                    return size
                continue
            patterns = self._beginnings.get(end[start : start + _BEGINNING])
            if patterns is None:
                continue
            rest = end[start:]
            first = bisect_left(patterns, rest)
            # They are in order: if the first one is only the rest, the second one may go on
            for pattern in patterns[first : first + 2]:
                is_open = len(pattern) > size or pattern in self.words
                if is_open and pattern.startswith(rest):
                    return size
        return 0

    @cached_property
    def _first_bytes(self) -> bytes:
        return bytes({pattern[0] for pattern in self._all})

    @cached_property
    def _beginnings(self) -> dict[bytes, list[bytes]]:
        beginnings = dict[bytes, list[bytes]]()
        for pattern in sorted(self._all):
            beginnings.setdefault(pattern[:_BEGINNING], []).append(pattern)
        return beginnings

    @cached_property
    def _short_beginnings(self) -> frozenset[bytes]:
        return frozenset(p[:size] for p in self._all for size in range(1, _BEGINNING))


# In no text, and harmless if found in other data. Without a pattern of 256 bytes, the automaton may
# look only for one to three letters that are rare in prose, depending on the order of the patterns:
# in base64 a hundred times slower
_LONG_PATTERN = b"\xfe\xff" * 128
# Bytes times patterns: up to so many, one search for each pattern is the fastest
_LITTLE = 20_000
# Bytes compared first: only few places have the beginning of a pattern
_BEGINNING = 4


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
    """Tell whether the bytes from *start* to *end* are a whole word, or several."""
    if end < len(data) and data[end - 1] in _LETTERS and data[end] in _LETTERS:
        return False
    if start > 0 and data[start] in _LETTERS and data[start - 1] in _LETTERS:
        return data[start - BEFORE : start] in _ESCAPES
    return True


def _automaton(patterns: list[bytes], *, is_overlapping: bool = True) -> Any:
    try:
        from ahocorasick_rs import (  # noqa: PLC0415 - only where there is a secret
            BytesAhoCorasick,
            Implementation,
            MatchKind,
        )
    except ImportError:
        # Pyodide
        return _OneByOne(patterns)
    kind = MatchKind.LeftmostFirst
    if is_overlapping:
        kind = MatchKind.Standard
    # The default, a DFA, takes 5 s to build for 5,000 times the same letter
    return BytesAhoCorasick(patterns, implementation=Implementation.ContiguousNFA, matchkind=kind)


class _OneByOne:
    """A replacement for the automaton of ahocorasick-rs in pure Python.

    It searches for one pattern after another.
    """

    def __init__(self, patterns: list[bytes]) -> None:
        self._patterns = patterns

    def find_matches_as_indexes(
        self, data: bytes, *, overlapping: bool = False
    ) -> list[tuple[int, int, int]]:
        """Return the matches in *data*, each as the index of the pattern, the start and the end.

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


# --- colours ----------------------------------------------------------------------

# Colours, and the end of a line cleared after them; JSON and a repr write `\u001b[31m` and `\x1b[31m`
_COLOUR = re.compile(rb"(?:\x1b|\\\\{0,7}(?:x|u00)1b)\[[0-9;:]*[mK]")
_RAW_COLOUR = re.compile(rb"\x1b\[[0-9;:]*[mK]")
_WRITTEN_COLOURS = Matcher((rb"\x1b[", rb"\u001b["))
_BEGUN = re.compile(
    rb"""(?: (?:\x1b | \\{1,8}(?:x|u00)1b) (?:\[[0-9;:]{0,40})?
           | \\{1,8} (?:x1? | u(?:0(?:01?)?)?)? ) \Z""",
    re.VERBOSE,
)
# Bytes of a colour that has begun, at most
_LONGEST_COLOUR = 60


def begun_colour(data: bytes) -> int:
    """Return how many bytes at the end of *data* may be the beginning of a colour code."""
    begun = _BEGUN.search(data, max(len(data) - _LONGEST_COLOUR, 0))
    if begun is None:
        return 0
    return len(begun[0])


def colours_in(data: bytes) -> bytes:
    """Return only the colour codes in *data*."""
    return b"".join(_COLOUR.findall(data))


class Bare:
    """Data without its colour codes, so that a secret is found even if it is partly coloured."""

    def __init__(self, data: bytes) -> None:
        """Take the colours out of *data*."""
        self.text = data
        """The data without colours."""
        self._size = len(data)
        # Of each piece between colours: its start in the text, and how many bytes of colours are before
        self._starts, self._shifts = [0], [0]
        colour_code = _RAW_COLOUR
        # One byte is found thirty times faster than four
        if b"\\" in data and _WRITTEN_COLOURS.may_occur_in(data):
            colour_code = _COLOUR
        elif b"\x1b" not in data:
            return
        pieces = list[bytes]()
        at = size = 0
        for colour in colour_code.finditer(data):
            pieces.append(data[at : colour.start()])
            size += colour.start() - at
            at = colour.end()
            self._starts.append(size)
            self._shifts.append(at - size)
        pieces.append(data[at:])
        self.text = b"".join(pieces)

    def place(self, start: int, end: int) -> Span:
        """Return where the bytes from *start* to *end* of `text` are in the original data."""
        return self._position(start), self._position(end - 1) + 1

    def from_end(self, size: int) -> int:
        """Return how many bytes of the original data contain the last *size* bytes of `text`."""
        return self._size - self._position(len(self.text) - size)

    def _position(self, index: int) -> int:
        return index + self._shifts[bisect_right(self._starts, index) - 1]
