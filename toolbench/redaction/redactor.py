"""Replace known secrets with a mark: in text, bytes, HTML, streams, values, errors.

A secret is also found in the forms in which programs write it, such as base64. These forms are
called writings (`writings.py`), and one search finds all of them (`matcher.py`). The result of a
tool keeps its secrets as a Python value. They are hidden when the result is shown, by the redactor
that the result carries (`core.schema.redactor_of`).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from html import escape
from typing import Any, TypeVar

from toolbench.errors import Problem
from toolbench.redaction import MARK
from toolbench.redaction.matcher import (
    BEFORE,
    Bare,
    Matcher,
    Span,
    begun_colour,
    colours_in,
    merged,
)
from toolbench.redaction.values import masked_error, masked_value
from toolbench.redaction.writings import writings

_Error = TypeVar("_Error", bound=BaseException)
SHORTEST = 4
"""The least length of a secret to search for, unless the secret was declared."""
WORD = 8
"""The least length of a secret to hide everywhere, even inside words.

A shorter secret, such as `test`, is hidden only as a whole word, and only in data of its own run or
server.
"""
SHORTEST_SETTING = 6
"""The least length of a secret in a server's settings if its name is a weak sign, like `key`."""
# A lone surrogate is text too
_ANY = "surrogatepass"
_MARK = MARK.encode()
_HTML_MARK = escape(MARK).encode()
# pydantic leaves at most 50 characters, and the text may be hostile
_CUT_VALUE = re.compile(r"(?<=\binput_value=).{0,50}\.\.\..{0,50}(?=, input_type=)")
# Bytes of a character of UTF-8 after its first
_LATER_BYTES = 3
# Characters of a piece of text that is compared with earlier ones, and how many of these
_PIECE, _PIECES = 100, 1_000
_MARKUP = ("text/html", "text/markdown", "image/svg+xml")


class Redactor:
    """Replaces secrets with a mark, in strings, bytes and objects, even if they are encoded."""

    def __init__(self, secrets: Iterable[str] = (), *, shortest: int = SHORTEST) -> None:
        """Make a redactor of *secrets*, except those with fewer than *shortest* characters."""
        self.secrets = frozenset(s for s in secrets if len(s.strip()) >= shortest)
        """The secrets. If this is empty, calling the redactor has no effect."""

    @cached_property
    def _matchers(self) -> tuple[Matcher, ...]:
        if not self.secrets:
            return ()
        return (_matcher_of(self.secrets),)

    def __bool__(self) -> bool:
        """Return True if the redactor has secrets."""
        return bool(self.secrets)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self.secrets)} secrets>"

    # For executors that work in other processes
    def __reduce__(self) -> Any:
        return _redactor_of, (self.secrets,)

    def including(self, secrets: Iterable[str]) -> "Redactor":
        """Return a redactor that also hides *secrets*; it is this one if nothing is new."""
        new = frozenset(secrets) - self.secrets
        if not new:
            return self
        return self.joined(Redactor(new))

    def joined(self, other: "Redactor") -> "Redactor":
        """Return a redactor of the secrets of both redactors.

        If one of the two has all secrets of the other, return that one.
        """
        if other.secrets <= self.secrets:
            return self
        if self.secrets <= other.secrets:
            return other
        return _joined(self, other)

    # --- text -----------------------------------------------------------------------

    def text(self, text: str) -> str:
        """Return *text* with `<secret-hidden>` in place of each secret."""
        return self._text(text, _MARK)

    def html(self, html: str) -> str:
        """Return *html* with `<secret-hidden>`, escaped for HTML, in place of each secret."""
        return self._text(html, _HTML_MARK)

    def _text(self, text: str, mark: bytes) -> str:
        if not self.secrets:
            return text
        data = text.encode(errors=_ANY)
        spans = self.spans(data)
        if not spans:
            return text
        return _replaced(data, spans, mark).decode(errors=_ANY)

    def data(self, data: bytes) -> bytes:
        """Return *data* with `<secret-hidden>` in place of each secret."""
        return _replaced(data, self.spans(data), _MARK)

    def occurs_in(self, text: str | bytes) -> bool:
        """Tell whether *text* has a secret."""
        if isinstance(text, str):
            text = text.encode(errors=_ANY)
        return bool(self.spans(text))

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether binary *data*, which may contain strings, may contain a secret."""
        bare = Bare(data)
        return any(matcher.may_occur_in(bare.text) for matcher in self._matchers)

    def spans(self, data: bytes) -> list[Span]:
        """Return the spans of secrets in *data*, in order; spans that overlap are merged."""
        bare = Bare(data)
        spans = list[Span]()
        for matcher in self._matchers:
            spans += matcher.spans(bare.text)
        return [bare.place(*span) for span in merged(spans)]

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may begin a secret or a colour code."""
        colour = begun_colour(data)
        if not colour:
            return self._begun(data)
        return max(self._begun(data), colour + self._begun(data[:-colour]))

    def _begun(self, data: bytes) -> int:
        bare = Bare(data)
        return bare.from_end(max((m.begun(bare.text) for m in self._matchers), default=0))

    @cached_property
    def passes(self) -> Callable[[str], bool]:
        """A function that tells whether a piece of an output can be shown without a search.

        It returns true if the piece cannot contain any part of a secret or of a colour code. The
        results are cached, because programs print the same small pieces again and again.
        """
        return lru_cache(maxsize=_PIECES)(self._passes)

    def _passes(self, text: str) -> bool:
        data = text.encode(errors=_ANY)
        if b"\x1b" in data or b"\\" in data:
            return False
        return not any(m.may_occur_in(data) or m.begun(data) for m in self._matchers)

    def sentence(self, sentence: str) -> str:
        """Return a message of toolbench without secrets.

        A secret is hidden even if the message has only its beginning, followed by a `…`.
        """
        pieces = self.text(sentence).split("…")
        for index, piece in enumerate(pieces[:-1]):
            data = piece.encode(errors=_ANY)
            size = self.begun(data)
            if size >= SHORTEST:
                pieces[index] = data[:-size].decode(errors=_ANY) + MARK
        return "…".join(pieces)

    def error_text(self, text: str) -> str:
        """Return *text*, which is the message or the traceback of an error, without secrets.

        pydantic removes the middle of long values, so a search would not find a secret there.
        Therefore, such a value is replaced completely.
        """
        if not self.secrets:
            return text
        return self.text(_CUT_VALUE.sub(MARK, text))

    def problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return *problems* with the secrets hidden in their messages."""
        return [Problem(p.path, self.sentence(p.message)) for p in problems]

    def stream(self) -> "Stream":
        """Return a filter that replaces the secrets in text that comes in pieces."""
        return Stream(self)

    # --- anything else ----------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """Return *value*; if it contains secrets, return a copy in which they are hidden.

        Lists, tuples, sets, mappings (with their keys), paths, bytes, models, dataclasses and the
        attributes of any other object are searched, even if they contain themselves. If the secrets
        cannot be removed from a copy of an object, the copy is a string: the object's `repr` with
        the secrets hidden.
        """
        if not self.secrets:
            return value
        return masked_value(self, value)

    def bundle(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the MIME bundle *data* without secrets. In HTML, the mark is escaped."""
        bundle = dict[str, Any]()
        for kind, content in data.items():
            if kind in _MARKUP and isinstance(content, str):
                bundle[kind] = self.html(content)
            else:
                bundle[kind] = self.value(content)
        return bundle

    def error(self, error: _Error) -> _Error | Exception:
        """Remove the secrets from the message and the causes of *error*, and return *error*.

        The objects are changed in place. If the message cannot be changed, a `RuntimeError` is
        returned instead. If the message of a cause cannot be changed, the cause is left out.
        """
        if not self.secrets:
            return error
        return masked_error(self, error)


class Stream:
    """A filter that replaces secrets in text that comes in pieces.

    The returned pieces, joined, equal the result of `Redactor.text` for the whole text. If the end
    of the text may be the beginning of a secret, it is held back until more text comes.
    """

    def __init__(self, redactor: Redactor) -> None:
        """Make a filter that replaces the secrets of *redactor*."""
        self.redactor = redactor
        """The redactor; a redactor with more secrets may replace it at any time."""
        self._held = b""
        # The last bytes before it, without colours: they tell whether a word begins there
        self._before = b""

    @property
    def held(self) -> int:
        """The number of bytes that are held back."""
        return len(self._held)

    def feed(self, text: str) -> str:
        """Add *text*; return all text that can be shown now, including text held back before."""
        redactor = self.redactor
        is_small = len(text) <= _PIECE and not self._held
        if is_small and redactor.secrets and redactor.passes(text):
            self._before = (self._before + text[-BEFORE:].encode(errors=_ANY))[-BEFORE:]
            return text
        return self.feed_data(text.encode(errors=_ANY)).decode(errors=_ANY)

    def flush(self) -> str:
        """Return the text that is still held back. Call this at the end of the text."""
        return self.flush_data().decode(errors=_ANY)

    def feed_data(self, data: bytes) -> bytes:
        """Do the same as `feed`, for bytes."""
        if not self.redactor and not self._held:
            return data
        data = self._before + self._held + data
        return self._passed(data, len(data) - self.redactor.begun(data))

    def flush_data(self) -> bytes:
        """Do the same as `flush`, for bytes."""
        data = self._before + self._held
        return self._passed(data, len(data))

    def _passed(self, data: bytes, end: int) -> bytes:
        """Return *data* up to *end* without secrets, and hold back the rest.

        Bytes that were returned before are not returned again.
        """
        start = len(self._before)
        spans = list[Span]()
        for first, last in self.redactor.spans(data):
            if last > end:
                # It may go on, as part of another secret
                end = min(first, end)
                break
            if last > start:
                spans.append((max(first - start, 0), last - start))
        for _ in range(_LATER_BYTES):
            # A secret of bytes may begin inside a character
            if end < len(data) and data[end] & 0xC0 == 0x80:
                end -= 1
        end = max(start, end)
        before = Bare(data[:end]).text[-BEFORE:]
        safe_data = _replaced(data[start:end], spans, _MARK)
        # Last: an interrupt before this line has changed nothing
        self._held, self._before = data[end:], before
        return safe_data


def _replaced(data: bytes, spans: list[Span], mark: bytes) -> bytes:
    """Return *data* with *mark* in place of each of *spans*.

    The colour codes in a span are kept after its mark.
    """
    pieces = list[bytes]()
    at = 0
    for start, end in spans:
        pieces += [data[at:start], mark, colours_in(data[start:end])]
        at = end
    pieces.append(data[at:])
    return b"".join(pieces)


def _matcher_of(secrets: Iterable[str]) -> Matcher:
    """Return a matcher for all writings of *secrets*.

    The writings of a short secret are found only as whole words.
    """
    patterns, words = set[bytes](), set[bytes]()
    for secret in secrets:
        is_short = len(secret.strip()) < WORD
        for writing in writings(secret):
            if not is_short and len(writing) >= WORD:
                patterns.add(writing)
            elif len(writing) >= SHORTEST or writing == secret.encode(errors=_ANY):
                words.add(writing)
    if any(writing in _MARK for writing in patterns | words):
        # Then it stays one mark
        patterns.add(_MARK)
    return Matcher(patterns, words)


# The same secrets are joined for each log record
@lru_cache(maxsize=16)
def _joined(one: Redactor, other: Redactor) -> Redactor:
    """Return a redactor of the secrets of both.

    Building a large matcher is slow, so it is not rebuilt for each new secret. The redactor keeps
    several matchers, and only matchers of about the same size are merged.
    """
    joined = Redactor()
    joined.secrets = one.secrets | other.secrets
    matchers = list[Matcher]()
    for matcher in sorted({*one._matchers, *other._matchers}, key=len):
        if matchers and 2 * len(matchers[-1]) > len(matcher):
            last = matchers.pop()
            matcher = Matcher(last.patterns | matcher.patterns, last.words | matcher.words)
        matchers.append(matcher)
    joined._matchers = tuple(matchers)
    return joined


def _redactor_of(secrets: frozenset[str]) -> Redactor:
    return Redactor(secrets, shortest=1)


NO_SECRETS = Redactor()
"""The redactor without secrets."""
