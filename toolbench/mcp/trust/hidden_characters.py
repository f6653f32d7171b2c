"""Find hidden characters, and names of other servers' tools, in a server's texts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.display.escape import visible

# Characters that are quoted
_MAX_QUOTE = 100
# The name of a tool that may be an English word
_WORD = re.compile(r"[a-z]+")
# Characters of a text that are searched
_LONGEST = 20_000


@dataclass(frozen=True)
class OfferWarning:
    """A part of a server's texts that a person should check."""

    where: str
    """The path of the text in the offer: `tools/add/description`."""
    text: str
    """The problem, in one sentence."""
    is_hidden: bool = False
    """Whether the text has hidden characters; otherwise it names the tool of another server."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def warnings_of(offer: Mapping[str, Any], others: Iterable[str] = ()) -> Iterator[OfferWarning]:
    """Yield the warnings about *offer*, which has `instructions` and `tools` by name.

    Args:
        offer: What the server offers, as in a snapshot.
        others: The names of tools of other servers; a text with such a name gets a warning.
    """
    own = set(offer.get("tools") or {})
    names = _names_in_text(n for n in others if len(n) > 3 and n not in own)
    for place, text in _texts(offer):
        where, clean = visible(place), visible(text)
        if clean != text:
            found = f"it has hidden characters: {_around(clean, '⟨', '^')}."
            yield OfferWarning(where, found, is_hidden=True)
        if names is not None and (match := names.search(text[:_LONGEST])):
            yield OfferWarning(
                where,
                f"it names the tool {match[match.lastindex or 0]!r} of another server.",
            )


def _names_in_text(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern whose last group is a name of a tool in a text; None without *names*.

    A name that may be an English word, such as `table`, must be marked as a name: by quotes, as a
    call, or by the word "tool" beside it.
    """
    words, others = list[str](), list[str]()
    for name in names:
        (words if _WORD.fullmatch(name) else others).append(re.escape(name))
    word, other = "|".join(words), "|".join(others)
    patterns = [rf"\b({other})\b"] if others else []
    if words:
        patterns += [
            rf"(?<=[`'\"\u201c\u2018])({word})(?=[`'\"\u201d\u2019])",
            # A call; not the plural "table(s)"
            rf"\b({word})(?=\((?!e?s\))|\s+tools?\b)",
            rf"\btools?\s+(?:called\s+|named\s+)?({word})\b",
        ]
    return re.compile("|".join(patterns)) if patterns else None


def _texts(offer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts that a model reads, each with its path."""
    parts = {key: offer[key] for key in ("instructions", "tools") if key in offer}
    todo: list[tuple[str, Any]] = [("", parts)]
    while todo:
        where, value = todo.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield f"{where}/{key}".lstrip("/"), str(key)
                todo.append((f"{where}/{key}".lstrip("/"), item))
        elif isinstance(value, list):
            todo += [(f"{where}/{n}", item) for n, item in enumerate(value)]


def _around(text: str, *marks: str) -> str:
    places = [place for mark in marks if (place := text.find(mark)) >= 0]
    start = max(0, min(places, default=0) - 30)
    return _quote(text[start : start + _MAX_QUOTE])


def _quote(text: str) -> str:
    short = " ".join(visible(text).split())
    return repr(short if len(short) <= _MAX_QUOTE else f"{short[:_MAX_QUOTE]}…")
