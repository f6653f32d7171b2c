"""Rules for the description of a tool."""

import re
from collections.abc import Iterator

from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.subject import Subject
from toolbench.llm.lint.verbs import VERBS
from toolbench.wording import words_of

_READING = "describe fetch find get list lookup query read retrieve search show"
_SAYS_NOTHING = (
    "a an the of for to in on from with by and or this that tool function method api via "
    "using given specified specific new existing all it its is as into at"
)
_READS = frozenset(_READING.split())
_SEARCHES = frozenset({"find", "search", "query"})
_EMPTY = frozenset(_SAYS_NOTHING.split())
_RESULT = re.compile(
    r"\b(returns?|returned|returning|results?|outputs?|responses?|responds?|respond with|"
    r"yields?|gives?|provid\w+|includ\w+|contain\w+|consist\w+|list of|lists|array of|"
    r"json|xml|csv|markdown|html|text|details?|information about|metadata|fields?|"
    r"contents?|documentation|summary|average|numbers?|price|status of|date of|value of|\w*names?|as an? |image|base64|url|"
    r"schema|calculat\w+|comput\w+|determin\w+|checks?|such as|e\.g\.|with (?:its|their|the)|along with|shows?)\b|\(.*,.*\)|:\s",
    re.IGNORECASE | re.DOTALL,
)
# Characters: a longer text may describe the result in other words
_LONG = 160
_LIMITED = re.compile(
    r"\b(limit\w*|max\w*|up to|at most|first|top|latest|recent|pag\w+|cursor|all|every|"
    r"entire|each|default\w*|most|matching|filter\w*|\d+)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"limit|page|cursor|max|top|count|size|offset|first|last|num|amount|^n$|^k$|take|"
    r"continuation|next|since|rows|results|head|tail|filter|query|id$|name$|path$|key$",
    re.IGNORECASE,
)


def missing(subject: Subject) -> Iterator[Finding]:
    """Check that a tool has a description."""
    if not subject.description.strip():
        message = "There is no description: the model has only the name."
        yield finding(subject.name, "description-missing", "description", message)


def thin(subject: Subject) -> Iterator[Finding]:
    """Check that the description of a tool says more than the tool's name."""
    words = set(words_of(subject.description)) - _EMPTY
    if not words or len(subject.description) > 120 or not subject.description.isascii():
        return
    known = {_stem(word) for word in subject.words}
    if all(_stem(word) in known for word in words):
        message = f"{subject.description.strip()!r} says no more than the name."
        yield finding(subject.name, "description-thin", "description", message)


def result(subject: Subject) -> Iterator[Finding]:
    """Check that a tool that reads data describes its result, in words or in a schema."""
    text = subject.description.strip()
    if not text or len(text) > _LONG or subject.has_output_schema:
        return
    # _RESULT has English words
    if not text.isascii() or any(thin(subject)):
        return
    if _first_verb(subject) in _READS and not _RESULT.search(text):
        message = "It does not say what it returns."
        yield finding(subject.name, "description-result", "description", message)


def limits(subject: Subject) -> Iterator[Finding]:
    """Check that a search tool takes a limit, or that its description says how much it returns."""
    text = subject.description.strip()
    # _LIMITED has English words
    if not text.isascii() or _LIMITED.search(text):
        return
    if not text or _first_verb(subject) not in _SEARCHES:
        return
    if not any(_LIMITS.search(argument.name) for argument in subject.outer):
        message = "It does not say how much it may return, and takes no limit."
        yield finding(subject.name, "description-limits", "description", message)


def _first_verb(subject: Subject) -> str:
    return next((word for word in subject.words if word in VERBS), "")


def gist(text: str) -> tuple[str, ...]:
    """Return the sorted stems of the words of *text*, to compare it with other texts."""
    words = re.findall(r"\w+", text.lower())
    return tuple(sorted(_stem(word) for word in words if word not in ("a", "an", "the")))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word
