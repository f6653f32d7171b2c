"""Replace known secrets with a mark: in text, bytes, HTML, sentences, streams, values, errors.

A tool's result itself is returned unchanged, with its secrets. The secrets are hidden only where
the result is shown, by the redactor that the result holds (`core.schema.redactor_of`).
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from html import escape
from typing import Any, TypeVar

from toolbench.errors import Problem
from toolbench.redaction import MARK
from toolbench.redaction.matching.cut_secrets import CUTS, CutSecrets
from toolbench.redaction.matching.encodings import line_forms
from toolbench.redaction.matching.matcher import Span, merged
from toolbench.redaction.matching.secret_search import SHORTEST, SecretSearch
from toolbench.redaction.values import masked_error, masked_value

_Error = TypeVar("_Error", bound=BaseException)
SHORTEST_SETTING = 6
"""The least characters of a secret in a server's settings, if its name is a weaker sign: `key`, `session`."""


class Redactor:
    """Replaces the secrets of a set by a mark, in any object and in any encoding."""

    def __init__(self, secrets: Iterable[str] = (), *, shortest: int = SHORTEST) -> None:
        """Make a redactor of *secrets*.

        A secret of fewer than *shortest* characters is replaced only in quotes.
        """
        texts = frozenset(secrets) - {""}
        texts |= {form for text in texts for form in line_forms(text)}
        # a file or a pasted text ends with a line end, which programs cut off
        cut = {s.strip() for s in texts if len(s.strip()) >= SHORTEST}
        known = texts | cut
        self.secrets = frozenset(s for s in known if len(s) >= shortest)
        """The secrets that are replaced everywhere; if there are none, the redactor need not be called."""
        self._short = known - self.secrets

    def __bool__(self) -> bool:
        """Return True if the redactor has secrets to replace everywhere."""
        return bool(self.secrets)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self.secrets)} secrets>"

    # For executors that work in other processes
    def __reduce__(self) -> Any:
        return _redactor, (self.secrets, self._short)

    def including(self, secrets: Iterable[str]) -> "Redactor":
        """Return a redactor that also hides *secrets*; this redactor itself, if it has them all already."""
        return self.joined(Redactor(secrets))

    def joined(self, other: "Redactor") -> "Redactor":
        """Return a redactor of the secrets of both redactors.

        If one of the two already has all secrets of the other, it is returned itself.
        """
        for one, more in ((self, other), (other, self)):
            if more.secrets <= one.secrets and more._short <= one._short:
                return one
        return _redactor(self.secrets | other.secrets, self._short | other._short)

    @cached_property
    def _search(self) -> SecretSearch | None:
        return SecretSearch(self.secrets) if self.secrets else None

    @property
    def longest(self) -> int:
        """The length in bytes of the longest form of a secret; 0 if there are no secrets."""
        return 0 if self._search is None else self._search.longest

    # --- text -----------------------------------------------------------------------

    def text(self, text: str) -> str:
        """Return *text* with a mark in place of each secret."""
        return self._text(text, _MARK)

    def html(self, html: str) -> str:
        """Return *html* with a mark in place of each secret; the mark is escaped for HTML."""
        return self._text(html, _HTML_MARK)

    def _text(self, text: str, mark: bytes) -> str:
        if self._search is None:
            return text
        data = text.encode(errors=_ANY)
        spans = self._search.spans(data)
        if not spans:
            return text
        return _replaced(data, spans, mark).decode(errors=_ANY)

    def data(self, data: bytes) -> bytes:
        """Return *data* with a mark in place of each secret."""
        spans = [] if self._search is None else self._search.spans(data)
        return _replaced(data, spans, _MARK) if spans else data

    def occurs_in(self, text: str | bytes) -> bool:
        """Tell whether *text* has a secret."""
        if self._search is None:
            return False
        data = text.encode(errors=_ANY) if isinstance(text, str) else text
        return self._search.occurs_in(data)

    def may_occur_in(self, data: bytes) -> bool:
        """Tell whether *data*, in which texts stand between other bytes, may have a secret in a text."""
        return self._search is not None and self._search.may_occur_in(data)

    def sentence(self, sentence: str) -> str:
        """Return *sentence* with secrets hidden, also cut ones (see `cut_text`) and short ones in quotes."""
        return self._quoted.sub(MARK, self.cut_text(sentence))

    def spans(self, data: bytes, *, cuts: Iterable[bytes] = ()) -> list[Span]:
        """Return the spans of secrets in *data*.

        *cuts* are texts in place of a part that was cut out, such as an ellipsis. The beginning of
        a secret before such a text is found too, and the end of a secret after it.
        """
        if self._search is None:
            return []
        spans = self._search.spans(data)
        for cut in cuts:
            beside = self._search.spans_beside(cut, data)
            spans += [(start, end) for start, end in beside if end - start > SHORTEST]
        return merged(spans)

    def cut_text(self, text: str) -> str:
        """Return *text*, an error message, without secrets, even without secrets that a library has cut."""
        data = text.encode(errors=_ANY)
        spans = self.spans(data, cuts=CUTS)
        return _replaced(data, spans, _MARK).decode(errors=_ANY) if spans else text

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a secret."""
        return 0 if self._search is None else self._search.begun(data)

    @cached_property
    def _quoted(self) -> re.Pattern[str]:
        """The pattern of the short secrets in quotes."""
        short = sorted(map(re.escape, self._short))
        either = "|".join(f"\"{text}\"|'{text}'" for text in short)
        # Which matches nowhere
        return re.compile(either or r"(?!)")

    def problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return *problems* with the secrets hidden in their messages."""
        return [Problem(p.path, self.sentence(p.message)) for p in problems]

    def stream(self) -> "Stream":
        """Return a filter that replaces the secrets in a text that comes in pieces."""
        return Stream(self)

    # --- anything else ----------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """Return *value*; if it has a secret, a copy of it with a mark in place of each secret.

        Lists, tuples, sets, mappings (keys too), paths, bytes, models, dataclasses and the
        attributes of any other object are searched, even if they contain themselves. An object that
        cannot be copied without its secrets becomes its text.
        """
        return value if self._search is None else masked_value(self, value)

    def bundle(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mime bundle *data* without secrets; the mark fits each mime type."""
        return {
            kind: self.html(content)
            if kind in _MARKUP and isinstance(content, str)
            else self.value(content)
            for kind, content in data.items()
        }

    def error(self, error: _Error) -> _Error | Exception:
        """Return *error* without secrets: its message and its causes are changed in place.

        If the message cannot be changed, a `RuntimeError` is returned instead. A cause whose
        message cannot be changed is left out. Secrets whose middle a library has cut out are
        hidden too.
        """
        return error if self._search is None else masked_error(CutSecrets(self), error)


class Stream:
    """A filter that replaces secrets in a text that comes in pieces.

    The returned pieces together equal what the redactor returns for the whole text. Only an end
    that may be the beginning of a secret is held back. Up to three letters of base64 or hex at the
    end of a line are not held back, but remembered.
    """

    def __init__(self, redactor: Redactor) -> None:
        """Make a filter that replaces the secrets of *redactor*."""
        self.redactor = redactor
        """The redactor; a redactor with more secrets may replace it at any time."""
        # The end of the text so far, which may belong to a secret
        self._end = b""
        # Bytes at its start that were shown, or replaced by a mark
        self._done = 0
        # Whether a mark replaced the last of these bytes
        self._is_marked = False

    @property
    def held(self) -> int:
        """The number of bytes that are held back."""
        return len(self._end) - self._done

    def feed(self, text: str) -> str:
        """Add *text*; return all text that can be shown now, including text that was held back before."""
        return self.feed_data(text.encode(errors=_ANY)).decode(errors=_ANY)

    def flush(self) -> str:
        """Return the text that is still held back; to be called at the end of the text."""
        return self.flush_data().decode(errors=_ANY)

    def feed_data(self, data: bytes) -> bytes:
        """Do the same as `feed`, for bytes."""
        search = self.redactor._search
        if search is None and not self._end:
            return data
        data = self._end + data
        if search is None:
            return self._passed(data, len(data), len(data))
        recent = search.barely_begun(data)
        begun = search.begun(data) if recent else 0
        return self._passed(data, len(data) - begun, len(data) - recent)

    def flush_data(self) -> bytes:
        """Do the same as `flush`, for bytes."""
        return self._passed(self._end, len(self._end), len(self._end))

    def _passed(self, data: bytes, end: int, start: int) -> bytes:
        """Return *data* up to *end* without secrets; keep the bytes after *start* for later."""
        # What is shown stays shown
        end = max(end, self._done)
        pieces, at, is_marked = list[bytes](), self._done, self._is_marked
        for first, last in self.redactor.spans(data):
            if first < end and last > at:
                if first >= at or not is_marked:
                    pieces += [data[at:first], _MARK]
                at, is_marked = last, True
        if at < end:
            pieces.append(data[at:end])
            at, is_marked = end, False
        start = min(start, at)
        self._end, self._done, self._is_marked = data[start:], at - start, is_marked
        return b"".join(pieces)


def _replaced(data: bytes, spans: list[Span], mark: bytes) -> bytes:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [data[at:start], mark]
        at = end
    return b"".join([*pieces, data[at:]])


# The same secrets are joined for each call
@lru_cache(maxsize=16)
def _redactor(secrets: frozenset[str], short: frozenset[str]) -> Redactor:
    redactor = Redactor(secrets, shortest=1)
    redactor._short = short
    return redactor


NO_SECRETS = Redactor()
"""The redactor without secrets."""
# A lone surrogate is text too
_ANY = "surrogatepass"
_MARK = MARK.encode()
_HTML_MARK = escape(MARK).encode()
_MARKUP = ("text/html", "text/markdown", "image/svg+xml")
