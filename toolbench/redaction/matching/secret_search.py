"""Find known secrets in bytes, also where a program has encoded them."""

from collections.abc import Iterable
from functools import cached_property

from toolbench.redaction import MARK
from toolbench.redaction.matching.dumps import DumpMatcher, may_be_dump
from toolbench.redaction.matching.encodings import (
    LINE,
    as_bytes,
    encodings,
    in_digits,
    in_letters,
    in_spaced_digits,
)
from toolbench.redaction.matching.matcher import Matcher, Span, merged
from toolbench.redaction.matching.spaced_secrets import (
    DIGITS,
    LETTERS,
    SpacedMatcher,
)

SHORTEST = 4
"""The least characters of a secret to search; a shorter one is in too many other words."""
# Of hex: fewer digits may be in a table of numbers
_FEWEST_DIGITS = 12
LARGE = 50_000
"""The most bytes in which base64 and hex are also found on several lines, in groups and in dumps."""


class SecretSearch:
    """Searches for secrets: unchanged, with escapes, in base64 or hex, also over several lines.

    It also finds secrets in dumps of bytes. In more than `LARGE` bytes, it finds base64 and hex only
    in one piece: what is returned in such amounts is searched for each call.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        """Make a search for *secrets*; there must be at least one."""
        plain, letters, digits = set[bytes](), set[bytes](), set[bytes]()
        for secret in secrets:
            plain.update(_plain(secret))
            letters.update(_as_bytes(in_letters(secret), LINE))
            digits.update(_as_bytes(in_digits(secret), _FEWEST_DIGITS))
        if any(text in _MARK for text in plain):
            # Then it stays one mark
            plain.add(_MARK)
        self._plain = Matcher(plain)
        self._in_one_piece = plain | letters | digits
        self._spaced = [
            SpacedMatcher(patterns, spacing)
            for patterns, spacing in ((letters, LETTERS), (digits, DIGITS))
            if patterns
        ]
        self._dumps = [DumpMatcher(digits)] if digits else []
        known: list[Matcher | SpacedMatcher | DumpMatcher] = [
            self._plain,
            *self._spaced,
            *self._dumps,
        ]
        self.longest = max(one.longest for one in known)
        """The most bytes of a secret in any encoding."""

    @cached_property
    def _quick(self) -> Matcher:
        """The search for all encodings in one pass, for large data."""
        return Matcher(self._in_one_piece)

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a secret occurs in *data*, in any encoding."""
        if len(data) > LARGE:
            return self._quick.occurs_in(data)
        others: list[SpacedMatcher | DumpMatcher] = [*self._spaced, *self._dumps]
        return self._plain.occurs_in(data) or any(o.occurs_in(data) for o in others)

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether a text in *data*, between other bytes, may have a secret; False is certain."""
        if len(data) > LARGE:
            return self._quick.may_occur_in(data)
        return (
            self._plain.may_occur_in(data)
            or any(one.occurs_in(data) for one in self._spaced)
            or (bool(self._dumps) and may_be_dump(data))
        )

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of secrets in *data*; spans that overlap are merged."""
        if len(data) > LARGE:
            return self._quick.spans(data)
        spans = self._plain.spans(data)
        others: list[SpacedMatcher | DumpMatcher] = [*self._spaced, *self._dumps]
        spaced = [span for one in others for span in one.spans(data)]
        return merged([*spans, *spaced]) if spaced else spans

    def spans_beside(self, cut: bytes, data: bytes) -> list[Span]:
        """Return the spans in *data* of parts of secrets next to *cut*; see `Matcher.spans_beside`."""
        spans = self._plain.spans_beside(cut, data)
        for one in self._spaced:
            spans += one.spans_beside(cut, data)
        return spans

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a secret, in any encoding.

        A few letters of base64 or hex at the end of a line do not count: see `barely_begun`.
        """
        sizes = [one.begun(data) for one in self._spaced]
        return max(self._plain.begun(data), *sizes, self._begun_in_dump(data))

    def barely_begun(self, data: bytes) -> int:
        """Do the same as `begun`, but also count beginnings that are too short to hold back."""
        sizes = [one.begun(data, fewest=1) for one in self._spaced]
        return max(self._plain.begun(data), *sizes, self._begun_in_dump(data))

    def _begun_in_dump(self, data: bytes) -> int:
        return max((one.begun(data) for one in self._dumps), default=0)


def _plain(secret: str) -> set[bytes]:
    """Return the encodings of *secret* that are searched without separators between their letters."""
    short = {
        *(text for text in in_letters(secret) if len(text) < LINE),
        *(text for text in in_digits(secret) if len(text) < _FEWEST_DIGITS),
        *(in_spaced_digits(secret) if 2 * len(as_bytes(secret)) < _FEWEST_DIGITS else ()),
    }
    texts = {*encodings(secret), *short}
    written = {text for text in texts if len(text) >= SHORTEST or text == secret}
    return {
        data
        for text in (*written, secret)
        for data in (as_bytes(text), text.encode(errors="surrogatepass"))
    }


def _as_bytes(texts: Iterable[str], shortest: int) -> set[bytes]:
    return {text.encode() for text in texts if len(text) >= shortest}


_MARK = MARK.encode()
