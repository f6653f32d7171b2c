"""Apply the parts of a patch to the text of a file."""

import re
from collections.abc import Callable, Sequence

from toolbench.tools.apply_patch.patch import Part
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.textfile import TextFile

_READINGS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)
# The heading of a part in a unified diff
_RANGE = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*")


def merge(path: str, file: TextFile, parts: Sequence[Part]) -> tuple[str, int]:
    """Apply *parts* to *file*; return the new text, and the number of lines that match only inexactly.

    A line matches inexactly if it differs in white space. Unchanged lines keep the white space of
    the file. New lines get the line ends of the file.

    Raises:
        RunError: If the lines of a part are not in the file below the earlier parts.
    """
    *lines, last = file.text.split("\n")
    bare = [*(line.removesuffix("\r") for line in lines), last]
    new_end = "\r\n" if file.newline == "\r\n" else "\n"
    # The last line has no end; it needs one only if a line comes below it
    ends = [*("\r\n" if line.endswith("\r") else "\n" for line in lines), new_end]
    merged: list[tuple[str, str]] = []
    at = fuzz = 0
    for part in parts:
        start = _place(path, bare, part, at)
        merged += zip(bare[at:start], ends[at:start], strict=True)
        at = start
        for sign, text in part.lines:
            if sign == "+":
                merged.append((text, new_end))
                continue
            fuzz += bare[at] != text
            merged += [(bare[at], ends[at])] if sign == " " else []
            at += 1
    merged += zip(bare[at:], ends[at:], strict=True)
    whole = "".join(line + end for line, end in merged[:-1])
    return whole + (merged[-1][0] if merged else ""), fuzz


def _place(path: str, bare: list[str], part: Part, at: int) -> int:
    """Return the index of the line in *bare*, the lines of the file, where *part* begins.

    The search begins at the index *at*.
    """
    for heading in part.headings:
        if not _RANGE.fullmatch(heading):
            at = _below(path, bare, part, heading, at)
    if not part.old:
        is_open = part.headings and not part.ends_file
        if is_open:
            return at
        return len(bare) - (bare[-1] == "")
    for reading in _READINGS:
        index = _find([*map(reading, bare)], [*map(reading, part.old)], at, part)
        if index is not None:
            return index
    raise _missing(path, bare, part, at)


def _below(path: str, bare: list[str], part: Part, heading: str, at: int) -> int:
    """Return the index of the line below the first line that equals *heading*, from the index *at* on.

    If no line equals *heading*, the first line that begins with *heading* counts.
    """
    for fits in (str.__eq__, str.startswith):
        for index in range(at, len(bare)):
            if fits(bare[index].strip(), heading):
                return index + 1
    msg = (
        f"{path}: line {part.number} of the patch looks for {heading!r}, which is not in the "
        "file. Nothing was changed. Write a line of the file after @@, or just @@."
    )
    raise RunError(msg)


def _find(bare: list[str], old: list[str], at: int, part: Part) -> int | None:
    last = len(bare) - len(old)
    starts = [*range(at, last + 1)]
    if part.ends_file:
        starts = [start for start in (last, last - 1) if start >= at] + starts
    return next((s for s in starts if bare[s : s + len(old)] == old), None)


def _missing(path: str, bare: list[str], part: Part, at: int) -> RunError:
    """Return the error for *part*, which does not fit; it names the first line that does not fit."""
    old = [line.strip() for line in part.old]
    best, end = 0, at
    for start in range(at, len(bare)):
        fitting = 0
        while fitting < len(old) and start + fitting < len(bare):
            if bare[start + fitting].strip() != old[fitting]:
                break
            fitting += 1
        if fitting > best:
            best, end = fitting, start + fitting
    where = f"after line {end} ({bare[end - 1]!r})" if end else "in it"
    return RunError(
        f"{path}: the part at line {part.number} of the patch does not fit: there is no "
        f"{part.old[min(best, len(old) - 1)]!r} {where}. Nothing was changed. View the file, "
        "copy its lines exactly, and give the parts in its order."
    )
