"""Find encoded secrets that have line breaks or separators between their letters."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

from toolbench.redaction.matching.matcher import Matcher, Span

FEWEST = 4
"""The least letters that are held back at the end of a line: fewer letters end too many lines."""
# Bytes: positions are computed only for blocks with a match
_BLOCK = 1 << 12
# Bytes for each letter, with its separators: in `0x68, ` three
_ROOM = 4
# More bytes that may be between letters
_MORE = 1_000


class Spacing:
    """The separators that programs put between the letters of an encoding."""

    def __init__(self, blanks: bytes, marks: Iterable[bytes]) -> None:
        """Set two kinds of separators: *blanks* of one byte each, and *marks* of several bytes each."""
        self.blanks = blanks
        """The single bytes that are separators."""
        self._marks = tuple(marks)
        self._firsts = {mark[:1] for mark in self._marks}
        begun = {mark[:n] for mark in self._marks for n in range(1, len(mark))}
        self._begun = tuple(begun - set(self._marks))

    def without_marks(self, data: bytes) -> bytes:
        """Return *data* with blanks in place of each mark; the length stays the same."""
        firsts = {first for first in self._firsts if first in data}
        for mark in self._marks if firsts else ():
            if mark[:1] in firsts:
                data = data.replace(mark, self.blanks[:1] * len(mark))
        return data

    def cut_marks(self, data: bytes) -> Iterator[int]:
        """Yield each number of bytes at the end of *data* that may be the beginning of a mark."""
        return (len(begun) for begun in self._begun if data.endswith(begun))


_ENDS = (b"\\n", b"\\r", b"\\t", b"%0A", b"%0D", b"%0a", b"%0d")
LETTERS = Spacing(b" \t\r\n\v\f\\\"',", _ENDS)
"""The separators in base64 and base32: line ends and blanks, also as a list or a text in JSON."""
_PREFIXES = (b"\\x", b"\\u00", b"0x", b"0X", b"&#x", b"&#X")
DIGITS = Spacing(LETTERS.blanks + b":;-%", (*_ENDS, *_PREFIXES))
"""The separators in hex: those of LETTERS, and separators between bytes or before each byte."""


class SpacedMatcher:
    """Searches for patterns of letters in bytes; separators between the letters do not matter."""

    def __init__(self, patterns: Iterable[bytes], spacing: Spacing) -> None:
        """Make a search for *patterns*, at least one; they have no separators of *spacing* in them."""
        self._matcher = Matcher(patterns)
        self._spacing = spacing
        self.longest = _ROOM * self._matcher.longest + _MORE
        """The most bytes that a pattern takes with its separators, for data that comes in pieces."""

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a pattern occurs in *data*."""
        return self._matcher.occurs_in(Letters(data, self._spacing).text)

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of patterns in *data*; spans that overlap are merged."""
        letters = Letters(data, self._spacing)
        return [letters.place(*span) for span in self._matcher.spans(letters.text)]

    def spans_beside(self, cut: bytes, data: bytes) -> list[Span]:
        """Return the spans in *data* of parts of patterns next to *cut*; see `Matcher.spans_beside`."""
        letters = Letters(data, self._spacing)
        spans = self._matcher.spans_beside(cut, letters.text)
        return [letters.place(*span) for span in spans if span[0] < span[1]]

    def begun(self, data: bytes, *, fewest: int = FEWEST) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a pattern.

        A beginning of fewer than *fewest* letters counts only if no separator is in it.
        """
        end = data[-self.longest :]
        sizes = (0, *self._spacing.cut_marks(end))
        return max(self._begun(end[: len(end) - n], fewest, n) for n in sizes)

    def _begun(self, data: bytes, fewest: int, behind: int) -> int:
        """Return the same as `begun`; *behind* bytes after *data*, the beginning of a mark, count too."""
        letters = Letters(data, self._spacing)
        for count in self._matcher.beginnings(letters.text):
            size = len(data) - letters.position(len(letters.text) - count)
            if count >= fewest or size + behind == count:
                return size + behind
        return 0


class Letters:
    """The letters in some data (all its bytes except separators), and the position of each letter."""

    def __init__(self, data: bytes, spacing: Spacing) -> None:
        """Find the letters in *data*, the bytes that are not separators of *spacing*."""
        self._data = data = spacing.without_marks(data)
        self._blanks = frozenset(spacing.blanks)
        starts = range(0, len(data), _BLOCK)
        blocks = [data[start : start + _BLOCK].translate(None, spacing.blanks) for start in starts]
        self.text = blocks[0] if len(blocks) == 1 else b"".join(blocks)
        self._sizes = list(map(len, blocks))
        self._places: dict[int, list[int]] = {}

    @cached_property
    def _starts(self) -> list[int]:
        """The index of the first letter of each block, among all letters."""
        return [0, *accumulate(self._sizes[:-1])]

    def place(self, start: int, end: int) -> Span:
        """Return the span in the data from the letter *start* to the letter before *end*."""
        return self.position(start), self.position(end - 1) + 1

    def position(self, index: int) -> int:
        """Return the position in the data of the letter with the index *index*."""
        block = bisect_right(self._starts, index) - 1
        if block not in self._places:
            self._places[block] = self.places_in(block)
        return self._places[block][index - self._starts[block]]

    def places_in(self, block: int) -> list[int]:
        """Return the positions in the data of the letters of *block*."""
        start = block * _BLOCK
        part = enumerate(self._data[start : start + _BLOCK], start)
        return [place for place, byte in part if byte not in self._blanks]
