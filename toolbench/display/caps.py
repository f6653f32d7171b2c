"""Show the head and the tail of a text that is too long, and say how much is left out."""

import re
import unicodedata
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from toolbench.display.sequences import SEQUENCE
from toolbench.display.sizes import counted

_NOTICE_ROOM = 64
_NEAR = 200  # how far a cut may move to fall on the end of a line
_LONGEST_CLUSTER = 32
_OMITTED = "toolbench.omitted"
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"


@dataclass(frozen=True)
class Capped:
    """A text in at most two parts: `omitted` characters stood between `head` and `tail`."""

    head: str
    omitted: int = 0
    tail: str = ""

    @property
    def notice(self) -> str:
        """The line that stands for what is left out; empty when nothing is."""
        return left_out(self.omitted, "character") if self.omitted else ""

    def __str__(self) -> str:
        if not self.omitted:
            return self.head
        parts = (self.head.removesuffix("\n"), self.notice, self.tail)
        return "\n".join(part for part in parts if part)


def left_out(count: int, noun: str) -> str:
    """Return the line that stands for *count* things not shown: `… 1,234 rows left out …`."""
    return f"… {counted(count, noun)} left out …"


def cap(text: str, limit: int) -> Capped:
    """Keep about *limit* characters of *text*, half from each end.

    `str` of the result has at most *limit* characters (64 when *limit* is less: the notice
    needs them). No cut falls inside a control sequence, a surrogate pair or between a
    letter and its accents; where a line ends near the cut, the cut moves there.
    """
    if len(text) <= limit:
        return Capped(text)
    half = max(0, limit - _NOTICE_ROOM) // 2
    end = _line_end(text, _before(text, half)) if half else 0
    start = _line_start(text, _after(text, len(text) - half)) if half else len(text)
    return Capped(text[:end], start - end, text[start:])


def shorten(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters: for names, titles and cells."""
    return text if len(text) <= limit else f"{text[: _before(text, limit - 1)]}…"


def cap_text(text: Text, limit: int, omitted: int = 0) -> Text:
    """Keep about *limit* characters of a Rich text, as `cap` does of a string.

    Args:
        text: The text.
        limit: How much to keep.
        omitted: How many characters of its middle were taken out already.
    """
    capped = cap(text.plain, limit)
    if not capped.omitted:
        return text
    cuts = [len(capped.head), len(text) - len(capped.tail)]
    head, _, tail = text.divide(cuts)
    return joined(head, capped.omitted + omitted, tail)


def joined(head: Text, omitted: int, tail: Text) -> Text:
    """Return the two ends of a Rich text with the notice on a line between them."""
    gap = "\n" if head and not head.plain.endswith("\n") else ""
    notice = f"{gap}{left_out(omitted, 'character')}\n"
    return Text.assemble(
        head, (notice, Style(dim=True, meta={_OMITTED: omitted})), tail
    )


def characters(segment: Segment) -> int:
    """Count what *segment* stands for: its text, or all that its notice says is left out."""
    meta = segment.style.meta if segment.style else {}
    return int(meta.get(_OMITTED, len(segment.text)))


def _before(text: str, cut: int) -> int:
    inside = _sequence_at(text, cut)
    if inside:
        return inside.start()
    for place in range(cut, max(0, cut - _LONGEST_CLUSTER), -1):
        if not _sticks(text, place):
            return place
    return cut


def _after(text: str, cut: int) -> int:
    inside = _sequence_at(text, cut)
    cut = inside.end() if inside else cut
    for place in range(cut, min(len(text), cut + _LONGEST_CLUSTER)):
        if not _sticks(text, place):
            return place
    return cut


def _sequence_at(text: str, cut: int) -> re.Match[str] | None:
    """Return the control sequence that begins before *cut* and ends after it."""
    begin = text.rfind("\x1b", 0, cut)
    match = SEQUENCE.match(text, begin) if begin >= 0 else None
    return match if match and match.end() > cut else None


def _sticks(text: str, place: int) -> bool:
    """Tell whether the character at *place* belongs to the one before it."""
    last, char = text[place - 1], text[place]
    return (
        char in _JOINERS
        or last == "\u200d"
        or unicodedata.combining(char) > 0
        or ("\ud800" <= last <= "\udbff" and "\udc00" <= char <= "\udfff")
        or last + char == "\r\n"
    )


def _line_end(text: str, cut: int) -> int:
    newline = text.rfind("\n", max(0, cut - _NEAR), cut)
    return newline + 1 if newline >= 0 else cut


def _line_start(text: str, cut: int) -> int:
    newline = text.find("\n", cut, cut + _NEAR)
    return newline + 1 if newline >= 0 else cut
