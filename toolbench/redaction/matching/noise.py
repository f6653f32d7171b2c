"""Find secrets that have noise inside: colours, control characters and invisible characters."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple, Protocol

from toolbench.redaction import MARK
from toolbench.redaction.matching.matcher import Span, merged

# Bytes: noise that is longer counts as complete before its end
_LONGEST = 4096
# The most bytes to hold back
_ROOM = 1 << 16
_MARK = MARK.encode()


class Noise(NamedTuple):
    """The patterns of invisible bytes that may stand between the characters of a text."""

    whole: re.Pattern[bytes]
    """The pattern of complete noise; the pattern is one group, for `re.split`."""
    begun: re.Pattern[bytes]
    """The pattern of noise at the end of some data that may continue in the next data."""

    def begins_in(self, data: bytes) -> int:
        """Return where noise begins at the end of *data* that may continue in the next data.

        Return the length of *data* if there is no such noise.
        """
        begun = self.begun.search(data, max(len(data) - _LONGEST, 0))
        return len(data) if begun is None else begun.start()


def masked(pieces: list[bytes], spans: list[Span]) -> bytes:
    """Join *pieces*, and return the result with a mark in place of each of *spans*.

    Args:
        pieces: Text, noise, text and so on in turn, as `re.split` returns them.
        spans: The spans of secrets in the text without noise, in order.
    """
    safe, at, first = [], 0, 0
    for index, piece in enumerate(pieces):
        if index % 2 or not piece:
            safe.append(piece)
            continue
        while first < len(spans) and spans[first][1] <= at:
            first += 1
        if first == len(spans):
            safe += pieces[index:]
            break
        at, offset = at + len(piece), at
        if spans[first][0] < at:
            safe += _safe_parts(piece, offset, islice(spans, first, None))
        else:
            safe.append(piece)
    return b"".join(safe)


def _safe_parts(text: bytes, offset: int, spans: Iterable[Span]) -> Iterator[bytes]:
    """Yield the parts of *text* outside *spans*, and a mark for each span that begins in *text*.

    The positions of *spans* are in a longer text, in which *text* begins at *offset*.
    """
    at, last = offset, offset + len(text)
    for start, end in spans:
        if start >= last:
            break
        yield text[at - offset : max(start - offset, 0)]
        if start >= offset:
            yield _MARK
        at = min(end, last)
    yield text[at - offset :]


class _Stream(Protocol):
    def feed_data(self, data: bytes) -> bytes: ...

    def flush_data(self) -> bytes: ...


class _Redactor(Protocol):
    def __bool__(self) -> bool: ...

    def begun(self, data: bytes) -> int: ...

    def spans(self, data: bytes) -> list[Span]: ...

    def stream(self) -> _Stream: ...


class NoisyStream:
    """A filter that replaces secrets in bytes that come in pieces.

    Secrets are found even if noise is between their characters: invisible bytes, such as escape
    sequences for colours.

    The filter holds back the end of the bytes if a secret or noise may begin there.
    """

    def __init__(self, redactor: _Redactor, noise: Noise) -> None:
        """Make a filter that replaces the secrets of *redactor*; *noise* may stand inside them."""
        self._redactor = redactor
        self._noise = noise
        # A secret may be in noise, and contain noise
        self._as_it_is = redactor.stream()
        self._rest = b""
        # Bytes of it for which a mark was already written
        self._hidden = 0

    def feed_data(self, data: bytes) -> bytes:
        """Add *data*; return all bytes that can be shown now, including bytes that were held back before."""
        if not self._redactor:
            return data
        data = self._rest + data
        return self._as_it_is.feed_data(self._passed(data, self._noise.begins_in(data)))

    def flush_data(self) -> bytes:
        """Return the bytes that are still held back; to be called at the end of the data."""
        data = self._passed(self._rest, len(self._rest), is_last=True)
        return self._as_it_is.feed_data(data) + self._as_it_is.flush_data()

    def _passed(self, data: bytes, end: int, *, is_last: bool = False) -> bytes:
        """Return *data* up to *end* with secrets replaced, and hold back the rest."""
        pieces = self._noise.whole.split(data[:end])
        text = b"".join(pieces[::2])
        at = len(text) if is_last else len(text) - self._redactor.begun(text)
        before = list(_before(pieces, at))
        if len(data) - sum(map(len, before)) > _ROOM:
            before, at = pieces, len(text)
        spans = merged([(-1, self._hidden), *self._redactor.spans(text)])
        spans = [span for span in spans if span[0] < at]
        self._hidden = max(spans[-1][1] - at, 0)
        self._rest = data[sum(map(len, before)) :]
        return masked(before, spans)


def _before(pieces: Iterable[bytes], end: int) -> Iterator[bytes]:
    """Yield *pieces* up to the position *end*, which counts only the bytes of text, not of noise."""
    at = 0
    for index, piece in enumerate(pieces):
        if index % 2:
            yield piece
        elif at + len(piece) > end:
            yield piece[: end - at]
            return
        else:
            yield piece
            at += len(piece)
