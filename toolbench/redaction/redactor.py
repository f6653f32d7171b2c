"""Replace known secrets by a mark: in text, bytes, HTML, sentences, streams, values, errors."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
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
"""The same among the settings of a server, whose names say less surely what is a secret."""


class Redactor:
    """Knows some secrets, and replaces them wherever they stand, however they are encoded."""

    def __init__(
        self, secrets: Iterable[str] = (), *, shortest: int = SHORTEST
    ) -> None:
        """Know *secrets*; those of fewer than *shortest* characters only count in quotes."""
        texts = frozenset(secrets) - {""}
        texts |= {form for text in texts for form in line_forms(text)}
        # programs cut off the end of a line that a file, or a paste, has
        cut = {s.strip() for s in texts if len(s.strip()) >= SHORTEST}
        known = texts | cut
        self.secrets = frozenset(s for s in known if len(s) >= shortest)
        """The secrets it replaces; where there are none, it need not be asked."""
        self._short = known - self.secrets

    def __bool__(self) -> bool:
        """Whether there is anything to replace."""
        return bool(self.secrets)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self.secrets)} secrets>"

    def __reduce__(self) -> Any:  # for executors that work in other processes
        return _redactor, (self.secrets, self._short)

    def including(self, secrets: Iterable[str]) -> "Redactor":
        """Return a redactor that knows *secrets* too; this one if it knows them all."""
        return self.joined(Redactor(secrets))

    def joined(self, other: "Redactor") -> "Redactor":
        """Return a redactor that also knows what *other* knows; one of the two if it knows all."""
        for one, more in ((self, other), (other, self)):
            if more.secrets <= one.secrets and more._short <= one._short:
                return one
        return _redactor(self.secrets | other.secrets, self._short | other._short)

    @cached_property
    def _search(self) -> SecretSearch | None:
        return SecretSearch(self.secrets) if self.secrets else None

    @property
    def longest(self) -> int:
        """The most bytes that a secret has as it may be written; 0 if there is none."""
        return 0 if self._search is None else self._search.longest

    # --- text -----------------------------------------------------------------------

    def text(self, text: str) -> str:
        """Return *text* with every secret replaced."""
        return self._text(text, _MARK)

    def html(self, html: str) -> str:
        """Return *html* with every secret replaced by a mark that shows as such."""
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
        """Return *data* with every secret replaced."""
        spans = [] if self._search is None else self._search.spans(data)
        return _replaced(data, spans, _MARK) if spans else data

    def occurs_in(self, text: str | bytes) -> bool:
        """Tell whether a secret stands in *text*."""
        if self._search is None:
            return False
        data = text.encode(errors=_ANY) if isinstance(text, str) else text
        return self._search.occurs_in(data)

    def sentence(self, sentence: str) -> str:
        """Return *sentence* without secrets, also where it quotes a short one or cuts one off."""
        return self._quoted.sub(MARK, self.cut_text(sentence))

    def spans(self, data: bytes, *, cuts: Iterable[bytes] = ()) -> list[Span]:
        """Return where in *data* secrets stand, or beside one of *cuts* the beginning or end of one."""
        if self._search is None:
            return []
        spans = self._search.spans(data)
        for cut in cuts:
            beside = self._search.spans_beside(cut, data)
            spans += [(start, end) for start, end in beside if end - start > SHORTEST]
        return merged(spans)

    def cut_text(self, text: str) -> str:
        """Return *text*, an error's, in which a library may have cut long values in the middle."""
        data = text.encode(errors=_ANY)
        spans = self.spans(data, cuts=CUTS)
        return _replaced(data, spans, _MARK).decode(errors=_ANY) if spans else text

    def begun(self, data: bytes) -> int:
        """Return how many bytes at the end of *data* may be the beginning of a secret."""
        return 0 if self._search is None else self._search.begun(data)

    @cached_property
    def _quoted(self) -> re.Pattern[str]:
        """The secrets that are too short to be looked for, in quotes."""
        short = sorted(map(re.escape, self._short))
        either = "|".join(f"\"{text}\"|'{text}'" for text in short)
        return re.compile(either or r"(?!)")  # which matches nowhere

    def problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return *problems* without secrets in their sentences."""
        return [Problem(p.path, self.sentence(p.message)) for p in problems]

    def stream(self) -> "Stream":
        """Return what replaces secrets in a text that comes in pieces."""
        return Stream(self)

    # --- anything else ----------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """Return *value*, or a copy of it with every secret replaced.

        Lists, tuples, sets, mappings (keys too), paths, bytes, models, dataclasses and the
        attributes of any other object are looked into, also where they go in circles. What
        holds no secret is returned as it is, not as a copy; an object that cannot be copied
        without them becomes its text.
        """
        return value if self._search is None else masked_value(self, value)

    def bundle(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return a mime bundle with every secret replaced, by a mark that shows in each kind."""
        return {
            kind: self.html(content)
            if kind in _MARKUP and isinstance(content, str)
            else self.value(content)
            for kind, content in data.items()
        }

    def error(self, error: _Error) -> _Error | Exception:
        """Return *error*, its message and causes changed in place, or one that says the same.

        The latter is for an exception whose message cannot be changed; a cause like
        that is left out. Also what a library has cut in the middle is hidden.
        """
        return error if self._search is None else masked_error(CutSecrets(self), error)


class Stream:
    """Replaces secrets in a text that comes in pieces.

    The pieces it returns, joined, are what the redactor makes of the whole text. It holds back
    only an end that may be the beginning of a secret. The first letters of one in base64 or hex
    at the end of a line, three at most, are shown and kept in mind.
    """

    def __init__(self, redactor: Redactor) -> None:
        """Replace what *redactor* knows."""
        self.redactor = redactor
        """May be exchanged for one that knows more."""
        self._end = b""  # of what came: what may belong to a secret that has begun
        self._done = 0  # bytes at its start that are shown, or that a mark stands for
        self._is_marked = False  # whether a mark stands for the last of these

    @property
    def held(self) -> int:
        """How many bytes are held back."""
        return len(self._end) - self._done

    def feed(self, text: str) -> str:
        """Return what can be shown of *text* and of what was held back before."""
        return self.feed_data(text.encode(errors=_ANY)).decode(errors=_ANY)

    def flush(self) -> str:
        """Return what was held back: nothing follows it."""
        return self.flush_data().decode(errors=_ANY)

    def feed_data(self, data: bytes) -> bytes:
        """Do what `feed` does, for bytes."""
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
        """Do what `flush` does, for bytes."""
        return self._passed(self._end, len(self._end), len(self._end))

    def _passed(self, data: bytes, end: int, start: int) -> bytes:
        """Return what is shown of *data* up to *end*, and keep what comes after *start*."""
        end = max(end, self._done)  # what is shown stays shown
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


def _redactor(secrets: frozenset[str], short: frozenset[str]) -> Redactor:
    redactor = Redactor(secrets, shortest=1)
    redactor._short = short
    return redactor


NO_SECRETS = Redactor()
"""Replaces nothing."""
_ANY = "surrogatepass"  # half of a pair is text too
_MARK = MARK.encode()
_HTML_MARK = escape(MARK).encode()
_MARKUP = ("text/html", "text/markdown", "image/svg+xml")
