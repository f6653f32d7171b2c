"""The changes of a text, shown line by line."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from rich.text import Text

CONTEXT = 2
"""The number of unchanged lines shown around a change."""
MAX_LINES = 200
"""The maximum number of lines in a diff."""
# Matching is quadratic, so the lines of a change with more lines than this are not matched
_MAX_COMPARED = 2_000
_STYLES = {"-": "red", "+": "green", " ": "dim"}

_Change = tuple[str, int, int, int, int]


def diff(old: str, new: str) -> Text:
    """Return the lines that differ between *old* and *new*, with some lines around them.

    Each line begins with its number and a sign: `-` for a line of *old*, `+` for a line of *new*,
    and a space for an unchanged line.
    """
    view = Text()
    for index, (sign, number, line) in enumerate(_lines(_split(old), _split(new))):
        if index == MAX_LINES:
            view.append("… more changes are not shown", style="dim")
            break
        view.append(f"{number:6} {sign} {line}\n", style=_STYLES[sign])
    view.rstrip()
    return view


def _split(text: str) -> list[str]:
    if text:
        return text.removesuffix("\n").split("\n")
    return []


def _lines(old: list[str], new: list[str]) -> Iterator[tuple[str, int, str]]:
    for tag, i, i_end, j, j_end in changes(old, new):
        if tag == "equal":
            for number in range(j, j_end):
                yield " ", number + 1, new[number]
        else:
            for number in range(i, i_end):
                yield "-", number + 1, old[number]
            for number in range(j, j_end):
                yield "+", number + 1, new[number]


def changes(old: list[str], new: list[str], context: int = CONTEXT) -> Iterator[_Change]:
    """Yield `SequenceMatcher` operations for the changes and *context* items around them."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if old[~n] != new[~n]), rest)
    i_end, j_end = len(old) - tail, len(new) - tail
    before, after = min(head, context), min(tail, context)
    yield "equal", head - before, head, head - before, head
    if i_end + j_end - 2 * head > _MAX_COMPARED:
        yield "replace", head, i_end, head, j_end
    else:
        matcher = SequenceMatcher(None, old[head:i_end], new[head:j_end], autojunk=False)
        for tag, i, i2, j, j2 in matcher.get_opcodes():
            yield tag, i + head, i2 + head, j + head, j2 + head
    yield "equal", i_end, i_end + after, j_end, j_end + after
