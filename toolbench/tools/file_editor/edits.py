"""Change the text of a file: replace a part that occurs once, or insert lines."""

from collections.abc import Iterator
from dataclasses import dataclass

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.file_editor.excerpt import around, line_count, offset_of
from toolbench.tools.files.textfile import TextFile
from toolbench.wording import counted

# Lines shown before and after a change
_AROUND = 4
# Line numbers named when a text occurs too often
_MAX_NAMED = 100


@dataclass(frozen=True, slots=True)
class Change:
    """A changed text, the offsets and line number of its new part, and a note for the model."""

    text: str
    start: int
    end: int
    line: int
    note: str = ""

    @property
    def surroundings(self) -> str:
        """The new part and some lines above and below it, with line numbers."""
        if not self.text:
            return "(the file is empty now)"
        end = max(self.end - self.text.endswith("\n", self.start, self.end), self.start)
        return around(self.text, self.start, end, self.line, _AROUND)


def replacement(file: TextFile, old: str, new: str) -> Change:
    """Return the change that replaces *old* with *new* in *file*; *old* must occur exactly once.

    The line ends in *new* are converted to the line ends of the file. If *old* does not occur, it
    is searched again without the white space around it. In this case, a note in the change says so.

    Raises:
        RunError: If *old* is empty, equals *new*, or does not occur exactly once.
    """
    if not old:
        msg = "old_str is empty. Give the text to replace, or use `insert` to add lines."
        raise RunError(msg)
    if old == new:
        msg = "old_str and new_str are the same, so nothing would change. Give another new_str."
        raise RunError(msg)
    for old_text, note in _readings(old):
        at = file.text.find(old_text)
        if at >= 0:
            _check_unique(file.text, old_text, at)
            crlf = "\r\n" in old_text or file.newline == "\r\n"
            inserted = _crlf(new) if crlf else new
            # One copy of a large text
            changed = file.text.replace(old_text, inserted, 1)
            line = file.text.count("\n", 0, at) + 1
            return Change(changed, at, at + len(inserted), line, note)
    msg = (
        "old_str does not occur in the file; nothing was changed. View the file and copy the "
        "text exactly, white space included and line numbers not."
    )
    raise RunError(msg)


def insertion(file: TextFile, line: int, new: str) -> Change:
    """Return the change that inserts the lines *new* into *file*, below the line number *line*.

    If *line* is 0, the lines are inserted at the top.

    Raises:
        RunError: If the file has no line with this number.
    """
    text, total = file.text, line_count(file.text)
    if line > total:
        msg = f"There is no line {line}: the file has {counted(total, 'line')}. Give an insert_line from 0 to {total}."
        raise RunError(msg)
    at = offset_of(text, line + 1)
    unfinished = at == len(text) and text and not text.endswith("\n")
    lines = "\n" + new if unfinished else new.removesuffix("\n") + "\n"
    if file.newline == "\r\n":
        lines = _crlf(lines)
    changed = "".join((text[:at], lines, text[at:]))
    return Change(changed, at + bool(unfinished), at + len(lines), line + 1)


def _readings(old: str) -> Iterator[tuple[str, str]]:
    """Yield the strings that a model may mean by *old*, likeliest first.

    Each string comes with a note, which says how it differs from *old*.
    """
    bare = old.strip()
    for text, note in (
        (old, ""),
        (bare, ", old_str without the white space around it"),
    ):
        if text:
            lf = text.replace("\r\n", "\n")
            yield from ((spelt, note) for spelt in dict.fromkeys((text, _crlf(lf), lf)))


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _check_unique(text: str, old_text: str, at: int) -> None:
    lines: list[int] = []
    number, start = 1, 0
    while at >= 0 and len(lines) <= _MAX_NAMED:
        number += text.count("\n", start, at)
        lines.append(number)
        start, at = at, text.find(old_text, at + 1)
    if len(lines) > 1:
        numbers = ", ".join(map(str, lines[:_MAX_NAMED]))
        more = " and more" if len(lines) > _MAX_NAMED else ""
        msg = (
            f"old_str occurs more than once, in lines {numbers}{more}; nothing was changed. "
            "Add the lines before or after the one you mean."
        )
        raise RunError(msg)
