"""Rules for tools that are offered together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from toolbench.llm.lint.description_rules import gist
from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.schema_rules import tokens_of
from toolbench.llm.lint.subject import Subject

_MOST_TOOLS = 100
_MOST_TOKENS = 25_000
_SAME = {
    synonym: group[0]
    for group in (
        ("get", "fetch", "retrieve", "read", "show"),
        ("create", "add", "new", "make"),
        ("delete", "remove", "del"),
        ("update", "edit", "modify", "change"),
        ("search", "find", "query", "lookup"),
        ("run", "execute", "start"),
    )
    for synonym in group
}


def crowd(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that there are at most 100 tools, and that together they cost at most 25,000 tokens."""
    count, name = len(subjects), f"{len(subjects)} tools"
    if count > _MOST_TOOLS:
        message = f"{count} tools at once; models mix them up above {_MOST_TOOLS}."
        yield finding(name, "tools-many", "tools", message)
    tokens = sum(map(tokens_of, subjects))
    if tokens > _MOST_TOKENS:
        message = f"Together they cost about {tokens:,} tokens in every request."
        yield finding(name, "tools-tokens", "tools", message)


def names(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have equal names, or names that differ only in case or a plural s.

    Separators such as `_` and `-` are not compared.
    """
    first: dict[str, str] = {}
    for subject in subjects:
        folded = "_".join(word.removesuffix("s") for word in subject.words)
        other = first.setdefault(folded, subject.name)
        if other != subject.name:
            message = f"Its name differs from {other!r} only in spelling or a plural."
            yield finding(subject.name, "name-near", "name", message)
    names_so_far: set[str] = set()
    for subject in subjects:
        if subject.name in names_so_far:
            message = f"Another tool has the name {subject.name!r} too."
            yield finding(subject.name, "name-duplicate", "name", message)
        names_so_far.add(subject.name)


def pairs(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have names with the same meaning."""
    groups: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for subject in subjects:
        key = sorted(_SAME.get(word, word) for word in subject.words)
        groups[tuple(key)].append(subject)
    for group in groups.values():
        one = group[0]
        for other in group[1:]:
            if one.words != other.words:
                message = f"Its name means the same as {one.name!r}: a model may confuse the two."
                yield finding(other.name, "tools-ambiguous", "name", message)


def descriptions(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have descriptions with the same words."""
    first: dict[tuple[str, ...], Subject] = {}
    for subject in subjects:
        text = gist(subject.description)
        if len(text) < 2 or "deprecated" in subject.description.lower():
            continue
        other = first.setdefault(text, subject)
        if other is not subject and other.name != subject.name:
            message = f"The description of {other.name!r} has the same words."
            yield finding(subject.name, "description-duplicate", "description", message)
