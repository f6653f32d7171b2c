"""Hide secrets in a traceback as IPython writes it: coloured, and long values cut short."""

import re
from collections.abc import Iterator

from toolbench.redaction import MARK
from toolbench.redaction.matching.matcher import Span
from toolbench.redaction.redactor import Redactor

_COLOUR = re.compile(rb"(\x1b\[[0-9;]*[A-Za-z])")
_CUT = b"..."  # stands for the middle of a long value


def hidden_in_traceback(redactor: Redactor, text: str) -> str:
    """Return *text*, a part of a traceback, with every secret replaced; its colours stay.

    A secret counts also where colours change inside of it, and so does the beginning or the
    end of one beside an ellipsis.
    """
    pieces = _COLOUR.split(text.encode(errors="surrogatepass"))
    spans = redactor.spans(b"".join(pieces[::2]), cut=_CUT)
    if not spans:
        return text
    at = 0
    for index in range(0, len(pieces), 2):  # between them are the colours
        plain = pieces[index]
        pieces[index] = b"".join(_shown(plain, at, spans))
        at += len(plain)
    return b"".join(pieces).decode(errors="surrogatepass")


def _shown(plain: bytes, offset: int, spans: list[Span]) -> Iterator[bytes]:
    """Yield what is shown of *plain*, which begins at *offset* of the text that *spans* are in."""
    at, last = offset, offset + len(plain)
    for start, end in spans:
        if end <= offset or start >= last:
            continue
        yield plain[at - offset : max(start - offset, 0)]
        if start >= offset:
            yield MARK.encode()
        at = min(end, last)
    yield plain[at - offset :]
