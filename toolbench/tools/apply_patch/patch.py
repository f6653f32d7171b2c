"""Parse a patch into its files and their changes, and apply these to the text of a file."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.files.textfile import TextFile

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_END_OF_FILE = "*** End of File"
_MOVE = "*** Move to: "
_FILES: dict[str, Literal["add", "update", "delete"]] = {
    "*** Add File: ": "add",
    "*** Update File: ": "update",
    "*** Delete File: ": "delete",
}
_READINGS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)
# The heading of a part in a unified diff
_RANGE = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*")


@dataclass(slots=True)
class Part:
    """A part of an update, from one `@@` to the next: its headings, and its old and new lines."""

    number: int
    """The number of the line of the patch where the part begins."""
    headings: list[str] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    """The sign (a space, `-` or `+`) and the text of each line."""
    ends_file: bool = False

    @property
    def old(self) -> list[str]:
        """The lines that must be in the file: unchanged lines and lines to delete."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(slots=True)
class FilePatch:
    """The changes of a patch for one file."""

    kind: Literal["add", "update", "delete"]
    path: str
    number: int
    move_to: str | None = None
    parts: list[Part] = field(default_factory=list)


def parse(text: str) -> list[FilePatch]:
    """Return the changes of the patch *text*, file by file.

    Raises:
        RunError: If *text* is not a valid patch; the message names the wrong line.
    """
    lines = text.replace("\r\n", "\n").strip().split("\n")
    if lines[0].strip() != _BEGIN or lines[-1].strip() != _END or len(lines) < 2:
        msg = (
            f"A patch begins with the line {_BEGIN!r} and ends with {_END!r}. Send it again, whole."
        )
        raise RunError(msg)
    files: list[FilePatch] = []
    # The numbers of empty lines: below the last line of a part they mean nothing
    empty: list[int] = []
    for number, line in enumerate(lines[1:-1], 2):
        if not line:
            empty.append(number)
            continue
        started = _file(line, number)
        if files and not started and not line.startswith(("@@", _MOVE)):
            for earlier in empty:
                _read(files[-1], "", earlier)
        empty = []
        if started:
            files.append(started)
        elif not files:
            raise _wrong(
                number,
                line,
                "expected '*** Add File: ', '*** Update File: ' or '*** Delete File: ' and a path",
            )
        else:
            _read(files[-1], line, number)
    if not files:
        msg = "The patch is empty: name a file to add, update or delete."
        raise RunError(msg)
    for file in files:
        _check(file)
    return files


def _file(line: str, number: int) -> FilePatch | None:
    for start, kind in _FILES.items():
        if line.startswith(start):
            return FilePatch(kind, line.removeprefix(start).strip(), number)
    return None


def _read(file: FilePatch, line: str, number: int) -> None:
    """Add *line*, which is line *number* of the patch, to the changes of *file*."""
    if file.kind == "delete":
        if line.strip():
            raise _wrong(number, line, "after '*** Delete File: ' only the next file may follow")
    elif file.kind == "add":
        if not line.startswith("+"):
            raise _wrong(number, line, "every line of a new file begins with '+'")
        file.parts = file.parts or [Part(number)]
        file.parts[0].lines.append(("+", line[1:]))
    elif line.startswith(_MOVE) and not file.parts and not file.move_to:
        file.move_to = line.removeprefix(_MOVE).strip()
    else:
        _read_update(file, line, number)


def _read_update(file: FilePatch, line: str, number: int) -> None:
    last = file.parts[-1] if file.parts else None
    if line.startswith("@@"):
        heading = line.removeprefix("@@").strip()
        if last is None or last.lines:
            last = Part(number)
            file.parts.append(last)
        last.headings += [heading] if heading else []
    elif line.strip() == _END_OF_FILE and last is not None and last.lines:
        last.ends_file = True
    elif line[:1] in ("", " ", "+", "-"):
        if last is None or last.ends_file:
            last = Part(number)
            file.parts.append(last)
        last.lines.append((line[:1] or " ", line[1:]))
    else:
        raise _wrong(number, line, "a line of an update begins with '@@', a space, '+' or '-'")


def _check(file: FilePatch) -> None:
    if not file.path:
        raise _wrong(file.number, "", "the path of the file is missing")
    changes = any(part.lines for part in file.parts)
    if file.kind == "update" and not changes and not file.move_to:
        raise _wrong(file.number, file.path, "the update changes nothing")


def _wrong(number: int, line: str, why: str) -> RunError:
    excerpt = line if len(line) <= 80 else f"{line[:80]}..."
    return RunError(f"Line {number} of the patch, {excerpt!r}: {why}. Nothing was changed.")


def merge(path: str, file: TextFile, parts: Sequence[Part]) -> tuple[str, int]:
    """Apply the *parts* of a patch to *file*.

    A line of the patch may differ from a line of the file in white space. Then the file keeps its
    own white space. Added lines get the line ends of the file.

    Returns:
        The new text, and the number of lines that differed in white space.

    Raises:
        RunError: If the lines of a part do not occur in the file below the previous part.
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
    """Return the index of the file's line at which *part* begins; search from the index *at*.

    *bare* has the lines of the file, without their line ends.
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
    """Return the index of the line below *heading*; search from the index *at*.

    If no line equals *heading*, use the first line that begins with *heading*.
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
    """Return the error for a *part* that is not in the file; it names the first missing line."""
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
