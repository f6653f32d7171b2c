"""Find lines of a large file; the positions of its lines are kept for the next view of this file."""

import os
import time
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import NamedTuple

from toolbench.tools.file_editor.excerpt import forward, line_count, offset_of
from toolbench.tools.files.ascii_text import AsciiText, Text
from toolbench.tools.files.entry import Entry

# Bytes from one count of lines to the next
_BLOCK = 64 * 1024
# Bytes: for a smaller file, reading is as fast as using the index
_LARGE = 1024 * 1024
# The most files whose line positions are kept
_FILES = 16
_AT_REST = 3_000_000_000  # nanoseconds: the times of some file systems are this coarse


class Lines(NamedTuple):
    """Some lines of a file: a text that contains them, their offsets in it, and the file's line count."""

    text: Text
    start: int
    end: int
    total: int


@dataclass(frozen=True, slots=True)
class LineIndex:
    """The number of line ends before each block of a file, which is ASCII text, and in the whole file."""

    before: tuple[int, ...]
    total: int
    """The number of lines; a last line without a line end counts too."""

    @classmethod
    def of(cls, text: AsciiText) -> "LineIndex":
        """Return the index of *text*, made by counting the line ends."""
        starts = range(0, len(text), _BLOCK)
        counts = (text.count("\n", start, start + _BLOCK) for start in starts)
        before = tuple(accumulate(counts, initial=0))
        return cls(before, before[-1] + (not text.endswith("\n")))

    def block_of(self, line: int) -> int:
        """Return the index of the block with the line end before *line*; 0 for the first line."""
        return max(bisect_left(self.before, line - 1) - 1, 0)

    def offset_of(self, text: Text, line: int, begin: int = 0) -> int:
        """Return the offset of the line with the number *line* in *text*.

        *text* is a part of the file that begins at the offset *begin* of the file.
        """
        block = self.block_of(line)
        start = block * _BLOCK - begin
        return forward(text, start, line - 1 - self.before[block])

    def lines(self, text: Text, first: int, last: int, begin: int = 0) -> Lines:
        """Return the lines with the numbers from *first* to *last* (-1 for the end).

        *text* is a part of the file that contains these lines. It begins at the offset *begin* of
        the file, the start of a block.
        """
        start = self.offset_of(text, min(max(first, 1), self.total), begin)
        end = len(text)
        if first <= last < self.total:
            end = self.offset_of(text, last + 1, begin)
        return Lines(text, start, end, self.total)


def lines_of(text: Text, first: int, last: int) -> Lines:
    """Return the lines of *text*, the whole text of a file, from *first* to *last* (-1 for the end)."""
    start = offset_of(text, max(first, 1))
    above = first - 1 if start < len(text) and first > 1 else 0
    # Each line end once
    total = above + line_count(text, start if above else 0)
    end = len(text)
    if first <= last < total:
        end = offset_of(text, last - first + 2, start)
    return Lines(text, start, end, total)


class _State(NamedTuple):
    """Facts about a file by which a change of its content is noticed.

    Each change of the file also changes the time `changed`. Only two changes in quick succession
    can have the same time.
    """

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, info: os.stat_result) -> "_State":
        identity = info.st_dev, info.st_ino, info.st_size
        return cls(*identity, info.st_mtime_ns, info.st_ctime_ns)

    @property
    def is_at_rest(self) -> bool:
        """Whether the last change is so old that the next change will have a different time."""
        return time.time_ns() - max(self.modified, self.changed) > _AT_REST


class KnownFiles:
    """The large files that were viewed last: the line index of each file, and its traits. Thread-safe."""

    def __init__(self) -> None:
        """Make an empty list of files."""
        self._lock = Lock()
        self._files: OrderedDict[_State, tuple[LineIndex, str]] = OrderedDict()

    def look(self, entry: Entry, first: int, last: int) -> tuple[Lines, str] | None:
        """Return the lines of the file at *entry* from *first* to *last*, and the traits of the file.

        Only the blocks with these lines are read. Return None if the file is not known, or was
        changed since it was added.
        """
        info = entry.stat()
        if info is None or info.st_size < _LARGE:
            return None
        state = _State.of(info)
        with self._lock:
            known = self._files.get(state)
        if known is None:
            return None
        index, traits = known
        begin = index.block_of(min(max(first, 1), index.total)) * _BLOCK
        end = state.size
        if first <= last < index.total:
            end = min((index.block_of(last + 1) + 1) * _BLOCK, end)
        with entry.opened(os.O_RDONLY) as file:
            data = os.pread(file, end - begin, begin)
            is_same = _State.of(os.fstat(file)) == state
        if not is_same or not data.isascii():
            return None
        return index.lines(AsciiText(data), first, last, begin), traits

    def add(self, entry: Entry, text: Text, traits: str) -> LineIndex | None:
        """Return the line index of *text*, which was just read from *entry*.

        Return None if *text* is small or not ASCII. The index is kept for the next `look`, unless
        the file was changed only seconds ago. In this case the next change may have the same time,
        so `look` would not notice the change.
        """
        if not isinstance(text, AsciiText) or len(text) < _LARGE:
            return None
        info, index = entry.stat(), LineIndex.of(text)
        if info is not None and info.st_size == len(text):
            state = _State.of(info)
            if state.is_at_rest:
                with self._lock:
                    self._files[state] = index, traits
                    while len(self._files) > _FILES:
                        self._files.popitem(last=False)
        return index
