"""Find characters in a server's texts that a model reads and a person does not see."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.display.escape import visible

# Characters that are quoted, and how many of them stand before the first hidden one
_MAX_QUOTE = 100
_LEAD = 30


@dataclass(frozen=True)
class OfferWarning:
    """A text of a server with hidden characters, which a person should check."""

    where: str
    """The path of the text in the offer: `tools/add/description`."""
    text: str
    """The problem, in one sentence."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def warnings_of(offer: Mapping[str, Any]) -> Iterator[OfferWarning]:
    """Yield the warnings about *offer*, which has `instructions` and `tools` by name."""
    for place, text in _texts(offer):
        clean = visible(text)
        if clean != text:
            found = f"it has hidden characters: {_around_hidden(clean)}."
            yield OfferWarning(visible(place), found)


def _texts(offer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts that a model reads, each with its path."""
    todo: list[tuple[str, Any]] = []
    for key in ("instructions", "tools"):
        if key in offer:
            todo.append((key, offer[key]))
    while todo:
        where, value = todo.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield f"{where}/{key}", str(key)
                todo.append((f"{where}/{key}", item))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                todo.append((f"{where}/{index}", item))


def _around_hidden(text: str) -> str:
    """Return *text*, in which hidden characters are written `⟨…⟩` or `^X`, from shortly before the first."""
    places = [text.find(mark) for mark in "⟨^"]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, first - _LEAD)
    short = " ".join(text[start : start + _MAX_QUOTE].split())
    return repr(short)
