"""Find known secrets in bytes, also where a program has encoded them."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from toolbench.redaction import MARK
from toolbench.redaction.matching.colours import COLOURS, Bare, has_colours
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
    FEWEST,
    LETTERS,
    SpacedMatcher,
)

SHORTEST = 4
"""The least characters of a secret to search; a shorter one is in too many other words."""
WORD = 8
"""The least characters of a secret to search inside words, and outside of what belongs to its owner.

A shorter one, such as `test`, is hidden only in what belongs to its owner, and only as a whole word.
"""
# Of hex: fewer digits may be in a table of numbers
_FEWEST_DIGITS = 12
LARGE = 50_000
"""The most bytes in which base64 and hex are also found on several lines, in groups and in dumps."""


# Texts without a secret, and their least bytes: a shorter text is searched as quickly
_KEPT, _SMALL = 4, 200


class SecretSearch:
    """Searches for secrets: unchanged, with escapes, in base64 or hex, also over several lines.

    It also finds secrets in dumps of bytes. In more than `LARGE` bytes, it finds base64 and hex only
    in one piece: what is returned in such amounts is searched for each call.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        """Make a search for *secrets*; there must be at least one."""
        plain, letters, digits, words = set[bytes](), set[bytes](), set[bytes](), set[bytes]()
        for secret in secrets:
            if len(secret) < WORD:
                words.update(_words(secret))
                continue
            plain.update(_plain(secret))
            letters.update(_as_bytes(in_letters(secret), LINE))
            digits.update(_as_bytes(in_digits(secret), _FEWEST_DIGITS))
        if any(text in _MARK for text in plain | words):
            # Then it stays one mark
            plain.add(_MARK)
        self._words = words
        self._plain = Matcher(plain, words)
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
        # The last texts without a secret: one result is searched for its record and for each view
        self._clear: tuple[bytes, ...] = ()

    @cached_property
    def _quick(self) -> Matcher:
        """The search for all encodings in one pass, for large data."""
        return Matcher(self._in_one_piece, self._words)

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a secret occurs in *data*, in any encoding."""
        if data in self._clear:
            return False
        occurs = any(map(self._occurs_in, _with_bare(data)))
        if not occurs:
            self._remember(data)
        return occurs

    def _occurs_in(self, data: bytes) -> bool:
        if len(data) > LARGE:
            return self._quick.occurs_in(data)
        others: list[SpacedMatcher | DumpMatcher] = [*self._spaced, *self._dumps]
        return self._plain.occurs_in(data) or any(o.occurs_in(data) for o in others)

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether a text in *data*, between other bytes, may have a secret; False is certain."""
        return any(map(self._may_occur_in, _with_bare(data)))

    def _may_occur_in(self, data: bytes) -> bool:
        if len(data) > LARGE:
            return self._quick.may_occur_in(data)
        return (
            self._plain.may_occur_in(data)
            or any(one.occurs_in(data) for one in self._spaced)
            or (bool(self._dumps) and may_be_dump(data))
        )

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of secrets in *data*; spans that overlap are merged."""
        if data in self._clear:
            return []
        spans = self._spans(data)
        if has_colours(data):
            bare = Bare(data)
            spans = merged([*spans, *(bare.place(*span) for span in self._spans(bare.text))])
        if not spans:
            self._remember(data)
        return spans

    def _remember(self, data: bytes) -> None:
        """Remember that *data* has no secret, if it is neither short nor large."""
        if _SMALL < len(data) <= LARGE:
            # At once, for other threads
            self._clear = (data, *self._clear[: _KEPT - 1])

    def _spans(self, data: bytes) -> list[Span]:
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
        return self._begun_in_colours(data, FEWEST)

    def barely_begun(self, data: bytes) -> int:
        """Do the same as `begun`, but count all bytes that are needed to search the next data.

        Also beginnings that are too short to hold back, and what is before a word.
        """
        begun = self._begun_in_colours(data, 1)
        return min(begun + self._plain.before, len(data))

    def _begun_in_colours(self, data: bytes, fewest: int) -> int:
        begun = self._begun(data, fewest)
        end = data[-(self.longest + COLOURS) :]
        if not has_colours(end):
            return begun
        bare = Bare(end)
        return max(begun, bare.begun(self._begun(bare.text, fewest)))

    def _begun(self, data: bytes, fewest: int) -> int:
        sizes = [one.begun(data, fewest=fewest) for one in self._spaced]
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


def _with_bare(data: bytes) -> Iterator[bytes]:
    """Yield *data*, and what it is without its colours, if it has any."""
    yield data
    if has_colours(data):
        yield Bare(data).text


def _words(secret: str) -> set[bytes]:
    """Return the encodings of *secret*, a short one, that are searched as whole words."""
    texts = {*encodings(secret), *in_letters(secret), *in_digits(secret), *in_spaced_digits(secret)}
    # Base64 is often written without its padding
    texts |= {text.rstrip("=") for text in in_letters(secret)}
    written = {text for text in texts if len(text) >= SHORTEST} | {secret}
    return {as_bytes(text) for text in written} | {
        text.encode(errors="surrogatepass") for text in written
    }


def _as_bytes(texts: Iterable[str], shortest: int) -> set[bytes]:
    return {text.encode() for text in texts if len(text) >= shortest}


_MARK = MARK.encode()
