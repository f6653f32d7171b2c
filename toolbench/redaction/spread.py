"""Find secrets that are spread over several texts in a sequence: lines, log messages."""

from collections import deque
from typing import NamedTuple

from toolbench.redaction import MARK
from toolbench.redaction.matching.secret_search import SHORTEST
from toolbench.redaction.redactor import Redactor

_ANY = "surrogatepass"
# Bytes kept of earlier texts: each line of a longer secret is searched by itself
_WINDOW = 1000


class Piece(NamedTuple):
    """The part of a secret that stands in one of the last texts."""

    back: int
    """The number of the text that has the piece: 0 is the newest text, 1 the text before it."""
    text: str
    is_at_end: bool
    """Whether the text ends with the piece; otherwise it begins with the piece."""

    def hidden_in(self, text: str) -> str:
        """Return *text* with a mark in place of this piece.

        *text* is the text that has the piece, or the same text with other pieces hidden already.
        """
        if self.is_at_end:
            return text.removesuffix(self.text) + MARK
        return MARK + text.removeprefix(self.text)


class Succession:
    """The ends of the last texts of one sequence, such as the lines of a log.

    A secret may begin in one of them and end in a later text.
    """

    def __init__(self) -> None:
        """Begin a sequence that has no texts yet."""
        self._ends: deque[bytes] = deque()

    def add(self, redactor: Redactor, text: str) -> list[Piece]:
        """Add *text*; return the pieces of a secret that began in earlier texts and ends in *text*."""
        if not redactor:
            self._ends.clear()
            return []
        new, before = text.encode(errors=_ANY), sum(map(len, self._ends))
        spans = redactor.spans(b"".join((*self._ends, new[:_WINDOW])))
        across = next((s for s in spans if s[0] < before < s[1]), None)
        pieces = [] if across is None else _pieces([*self._ends, new], *across)
        window = min(redactor.longest, _WINDOW)
        self._ends.append(new[-window:])
        while sum(map(len, self._ends)) - len(self._ends[0]) >= window:
            self._ends.popleft()
        return pieces

    def begun(self, redactor: Redactor) -> list[Piece]:
        """Return the pieces of a secret that may have begun in the last texts and may end in a later one.

        Very short beginnings do not count, because many words have them.
        """
        texts = list(self._ends)
        whole = b"".join(texts)
        size = redactor.begun(whole)
        if size < SHORTEST:
            return []
        return _pieces(texts, len(whole) - size, len(whole))


def _pieces(texts: list[bytes], start: int, end: int) -> list[Piece]:
    """Return the pieces of *texts* between *start* and *end*, which are positions in the joined texts."""
    pieces, at = list[Piece](), 0
    for back, text in zip(range(len(texts) - 1, -1, -1), texts, strict=True):
        part = text[max(start - at, 0) : max(end - at, 0)]
        if part:
            is_at_end = at + len(text) <= end
            pieces.append(Piece(back, part.decode(errors=_ANY), is_at_end))
        at += len(text)
    return pieces
