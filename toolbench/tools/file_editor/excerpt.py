"""Show lines of a file with line numbers, like `cat -n`, up to a limit of characters."""

from typing import NamedTuple

MAX_CHARACTERS = 16_000
"""About the most characters of a file that a model gets in one call."""
_HALF = MAX_CHARACTERS // 2
# Characters that a number and a line end add to a line
_NUMBER = 8
# Characters searched at once
_STEP = 64 * 1024


class Lines(NamedTuple):
    """A range of lines in a file: the file's whole text and line count, and the range's offsets."""

    text: str
    start: int
    end: int
    total: int


def lines_of(text: str, first: int, last: int) -> Lines:
    """Return the lines from *first* to *last* of *text*, the content of a file.

    Line numbers begin with 1. If *last* is -1, return all lines from *first* on.
    """
    start = offset_of(text, max(first, 1))
    above, counted_from = 0, 0
    if start < len(text) and first > 1:
        # Each line end once
        above, counted_from = first - 1, start
    total = above + line_count(text, counted_from)
    end = len(text)
    if first <= last < total:
        end = offset_of(text, last - first + 2, start)
    return Lines(text, start, end, total)


def line_count(text: str, start: int = 0) -> int:
    """Return the number of lines in *text* from the offset *start* on.

    A last line without a line end counts too.
    """
    return text.count("\n", start) + (start < len(text) and text[-1] != "\n")


def offset_of(text: str, line: int, start: int = 0) -> int:
    """Return the offset of the line with the number *line*; the end of *text* if there is none.

    Lines are counted from the offset *start*, and the line at *start* has the number 1.
    """
    # The text is not split into lines, so 10 MB take only a few milliseconds.
    lines_left = line - 1
    while lines_left and start < len(text):
        newlines = text.count("\n", start, start + _STEP)
        if newlines >= lines_left:
            return forward(text, start, lines_left)
        lines_left, start = lines_left - newlines, start + _STEP
    return min(start, len(text))


def around(text: str, start: int, end: int, first: int, lines: int) -> str:
    """Return a part of *text* and the lines above and below it, with line numbers.

    Args:
        text: The whole text.
        start: The offset at which the part begins.
        end: The offset at which the part ends.
        first: The number of the line at *start*.
        lines: The number of lines to add above the part, and the number to add below it.
    """
    begin = text.rfind("\n", 0, start) + 1
    for _ in range(min(lines, first - 1)):
        begin = text.rfind("\n", 0, begin - 1) + 1
        first -= 1
    stop = forward(text, end, lines + 1)
    line_total = line_count(text[begin:stop])
    return excerpt(text, begin, stop, first, line_total)


def excerpt(text: str, start: int, end: int, first: int, lines: int) -> str:
    """Return the lines from *start* to *end* in *text*, with line numbers.

    If the result would be too long, a note replaces the lines in the middle. The note says which
    lines are missing, and how to see them.

    Args:
        text: The whole text.
        start: The offset at which the first of the lines begins.
        end: The offset at which the last of the lines ends.
        first: The number of the line at *start*.
        lines: The number of lines from *start* to *end*.
    """
    end -= text.endswith("\n", start, end)
    if end - start + _NUMBER * lines <= MAX_CHARACTERS:
        return _numbered(text[start:end].split("\n"), first)
    head = _fitting(text[start : start + _HALF].split("\n"))
    tail = _fitting(text[end - _HALF : end].split("\n")[::-1])[::-1]
    below = first + lines - len(tail)
    left = start + sum(map(len, head)) + len(head) - 1
    right = end - sum(map(len, tail)) - len(tail) + 1
    lost_from = first + len(head) - (text[left] != "\n")
    lost_to = below - (text[right - 1] == "\n")
    note = (
        f"[{right - left:,} characters left out: lines {lost_from:,} to {lost_to:,}. "
        f"See them in parts with view_range, from {lost_from} on.]"
    )
    return f"{_numbered(head, first)}\n{note}\n{_numbered(tail, below)}"


def forward(text: str, start: int, lines: int) -> int:
    """Return the offset of the line that is *lines* lines below the line at the offset *start*.

    If *text* has no such line, return the end of *text*.
    """
    for _ in range(lines):
        start = text.find("\n", start) + 1
        if not start:
            return len(text)
    return start


def _numbered(lines: list[str], first: int) -> str:
    pairs = ((n, line.removesuffix("\r")) for n, line in enumerate(lines, first))
    return "\n".join(f"{n:6}\t{line}" for n, line in pairs)


def _fitting(lines: list[str]) -> list[str]:
    """Return as many of the first *lines* as fit in half of MAX_CHARACTERS, but at least one line."""
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + _NUMBER
        if used > _HALF:
            return lines[:index] or lines[:1]
    return lines
