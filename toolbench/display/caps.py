"""Long text shortened to its head and tail, with a notice that counts the missing characters."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from toolbench.display.escape import SEQUENCE, visible
from toolbench.wording import counted

_NOTICE_ROOM = 64
# How much of a very long text is read at each end, as a multiple of the limit
_ROOM = 2
# Sequences of fewer characters than this are never cut
_LONGEST_SEQUENCE = 2_000_000
# How many characters a cut may move to reach the end of a line
_NEAR = 200
_LONGEST_CLUSTER = 32
# Characters
_LONGEST_LINE = 500
_OMITTED = "toolbench.omitted"
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"


@dataclass(frozen=True)
class Capped:
    """Text without its middle: `omitted` characters were removed between `head` and `tail`."""

    head: str
    omitted: int = 0
    tail: str = ""

    @property
    def notice(self) -> str:
        """The line that replaces the removed characters; empty if none were removed."""
        if self.omitted:
            return left_out(self.omitted, "character")
        return ""

    @property
    def parts(self) -> list[str]:
        """The head, the notice and the tail, without empty ones: joined as lines, they are the text."""
        if not self.omitted:
            return [self.head]
        parts = (self.head.removesuffix("\n"), self.notice, self.tail)
        return [part for part in parts if part]

    def __str__(self) -> str:
        return "\n".join(self.parts)


def left_out(count: int, noun: str) -> str:
    """Return a notice that *count* things are not shown, such as `… 1,234 rows left out …`."""
    return f"… {counted(count, noun)} left out …"


def cap(text: str, limit: int, read: Callable[[str], str] = str) -> Capped:
    """Shorten *text* to about *limit* characters: keep both ends, and remove the middle.

    A notice in place of the middle says how many characters were removed. `str(result)`, which
    includes the notice, has at most *limit* characters, or at most 64 if *limit* is less than 64.
    Control sequences, surrogate pairs, and letters with accents are never split. Where possible,
    whole lines are kept.

    Args:
        text: The text. A long text takes no more time than a short one.
        limit: The number of characters to keep.
        read: A function, such as `visible`, that converts the text before it is shortened. If the
            text is very long, only its two ends are converted.
    """
    room = max(_ROOM * limit, _NOTICE_ROOM)
    if len(text) <= 2 * room:
        head = tail = read(text)
        if len(head) <= limit:
            return Capped(head)
        between = -len(head)
    else:
        begin, resume = _before(text, room), _after(text, len(text) - room)
        head, tail = read(text[:begin]), read(text[resume:])
        between = resume - begin
    half = max(0, limit - _NOTICE_ROOM) // 2
    end, start = len(head), 0
    if len(head) > half:
        end = _line_end(head, _before(head, half))
    if len(tail) > half:
        start = _line_start(tail, _after(tail, len(tail) - half))
    omitted = between + len(head) - end + start
    return Capped(head[:end], omitted, tail[start:])


def cap_joined(texts: Sequence[str], limit: int) -> Capped:
    """Join *texts* as lines, and shorten the result to about *limit* characters, as `cap` does."""
    total = sum(map(len, texts)) + max(0, len(texts) - 1)
    room = _ROOM * max(limit, _NOTICE_ROOM)
    if total <= 2 * room:
        return cap("\n".join(texts), limit)
    head = "\n".join(_until(texts, room))[:room]
    tail = "\n".join([*_until(reversed(texts), room)][::-1])[-room:]
    capped = cap(head + tail, limit)
    between = total - len(head) - len(tail)
    return Capped(capped.head, capped.omitted + between, capped.tail)


def _until(texts: Iterable[str], room: int) -> Iterator[str]:
    """Yield items of *texts* until they have *room* characters in total."""
    for text in texts:
        if room <= 0:
            return
        room -= len(text) + 1
        yield text


def text_line(text: str) -> str:
    """Return *text* as one line without control characters, cut off if it is long."""
    beginning = text[: _ROOM * _LONGEST_LINE]
    return shorten(visible(" ".join(beginning.split())), _LONGEST_LINE)


def shorten(text: str, limit: int) -> str:
    """Return *text*, cut to at most *limit* characters, for use as a name, title or cell."""
    if len(text) <= limit:
        return text
    # The text may already end in a cut
    return f"{text[: _before(text, limit - 1)].rstrip('…')}…"


def cap_text(text: Text, limit: int, omitted: int = 0) -> Text:
    """Shorten *text*, a Rich text, to about *limit* characters, as `cap` does with a string.

    Args:
        text: The text.
        limit: The number of characters to keep.
        omitted: The number of characters that the caller has already removed from the middle of
            *text*. The notice about the removed middle counts them too.
    """
    capped = cap(text.plain, limit)
    if not capped.omitted:
        return text
    cuts = [len(capped.head), len(text) - len(capped.tail)]
    head, _, tail = text.divide(cuts)
    return joined(head, capped.omitted + omitted, tail)


def joined(head: Text, omitted: int, tail: Text) -> Text:
    """Join *head* and *tail* with a notice between them: *omitted* characters are left out."""
    gap = ""
    if head and not head.plain.endswith("\n"):
        gap = "\n"
    notice = f"{gap}{left_out(omitted, 'character')}\n"
    return Text.assemble(head, (notice, Style(dim=True, meta={_OMITTED: omitted})), tail)


def is_notice(segment: Segment) -> bool:
    """Tell whether *segment* says how many characters were left out."""
    return segment.style is not None and _OMITTED in segment.style.meta


def characters(segment: Segment) -> int:
    """Return the number of characters of *segment*.

    For a notice, return the number of characters that were left out.
    """
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
    if inside:
        cut = inside.end()
    for place in range(cut, min(len(text), cut + _LONGEST_CLUSTER)):
        if not _sticks(text, place):
            return place
    return cut


def _sequence_at(text: str, cut: int) -> re.Match[str] | None:
    """Return the control sequence that contains the position *cut*; None if there is none."""
    begin = text.rfind("\x1b", max(0, cut - _LONGEST_SEQUENCE), cut)
    end = cut + _LONGEST_SEQUENCE
    if begin < 0:
        return None
    match = SEQUENCE.match(text, begin, end)
    if match and match.end() > cut:
        return match
    return None


def _sticks(text: str, place: int) -> bool:
    """Tell whether the character at *place*, such as an accent, belongs to the one before it."""
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
    if newline >= 0:
        return newline + 1
    return cut


def _line_start(text: str, cut: int) -> int:
    newline = text.find("\n", cut, cut + _NEAR)
    if newline >= 0:
        return newline + 1
    return cut
