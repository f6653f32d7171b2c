"""Find known secrets in bytes, however a program has written them."""

from collections.abc import Iterable

from toolbench.redaction import MARK
from toolbench.redaction.matching.encodings import (
    LINE,
    as_bytes,
    encodings,
    in_digits,
    in_letters,
    in_spaced_digits,
)
from toolbench.redaction.matching.matcher import Matcher, Span, merged
from toolbench.redaction.matching.spaced import (
    DIGITS,
    LETTERS,
    SpacedMatcher,
)

SHORTEST = 4
"""Characters: a secret that is shorter stands in too many words that are none."""
_FEWEST_DIGITS = 12  # of hex: fewer may stand in a table of numbers


class SecretSearch:
    """Finds some secrets as they are, in escapes, and in base64 and hex in whatever lines."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Look for *secrets*; there must be one."""
        plain, letters, digits = set[bytes](), set[bytes](), set[bytes]()
        for secret in secrets:
            plain.update(_plain(secret))
            letters.update(_as_bytes(in_letters(secret), LINE))
            digits.update(_as_bytes(in_digits(secret), _FEWEST_DIGITS))
        if any(text in _MARK for text in plain):
            plain.add(_MARK)  # then it stays one mark
        self._plain = Matcher(plain)
        self._spaced = [
            SpacedMatcher(patterns, spacing)
            for patterns, spacing in ((letters, LETTERS), (digits, DIGITS))
            if patterns
        ]
        self.longest = max([self._plain.longest, *(m.longest for m in self._spaced)])
        """The most bytes that a secret has as it may be written."""

    def occurs_in(self, data: bytes) -> bool:
        """Tell whether a secret stands in *data*."""
        return self._plain.occurs_in(data) or any(
            one.occurs_in(data) for one in self._spaced
        )

    def spans(self, data: bytes) -> list[Span]:
        """Return where secrets stand in *data*; those that overlap make one span."""
        spans = self._plain.spans(data)
        spaced = [span for one in self._spaced for span in one.spans(data)]
        return merged([*spans, *spaced]) if spaced else spans

    def spans_beside(self, cut: bytes, data: bytes) -> list[Span]:
        """Return where in *data* a secret begins before *cut*, or ends behind it."""
        spans = self._plain.spans_beside(cut, data)
        for one in self._spaced:
            spans += one.spans_beside(cut, data)
        return spans

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a secret.

        A few letters of base64 or hex at the end of a line are none: see `barely_begun`.
        """
        return max(
            self._plain.begun(data), *(one.begun(data) for one in self._spaced), 0
        )

    def barely_begun(self, data: bytes) -> int:
        """Return the same with what is too little to be held back, but not to be remembered."""
        sizes = (one.begun(data, fewest=1) for one in self._spaced)
        return max(self._plain.begun(data), *sizes, 0)


def _plain(secret: str) -> set[bytes]:
    """Return how *secret* may be written, but for what is found in whatever lines it stands."""
    short = {
        *(text for text in in_letters(secret) if len(text) < LINE),
        *(text for text in in_digits(secret) if len(text) < _FEWEST_DIGITS),
        *(
            in_spaced_digits(secret)
            if 2 * len(as_bytes(secret)) < _FEWEST_DIGITS
            else ()
        ),
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
