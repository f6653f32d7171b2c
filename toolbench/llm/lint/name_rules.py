"""Rules for a tool's name, and for hints (annotations) that contradict it."""

import re
from collections.abc import Iterator

from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.subject import Subject
from toolbench.llm.lint.verbs import VERBS

_DELETES = frozenset({"delete", "destroy", "drop", "erase", "purge", "truncate", "wipe", "del"})
_TAKES_AWAY = frozenset({"remove", "uninstall"})
_TAKING = re.compile(r"delet|remov|destroy|drop|eras|purg|truncat|wip", re.IGNORECASE)
_FOR_GOOD = re.compile(r"delet|destroy|permanent|irrevers|for good|undone", re.IGNORECASE)

# Of several
_FIRST_WORD = re.compile(r"\W*(\w+)\s+\w")


def verb(subject: Subject) -> Iterator[Finding]:
    """Check that a name says what the tool does."""
    words = subject.words
    if len(words) == 1 and _begins_with(subject.description, words[0]):
        # `germinate`: "Germinate seeds.", "Germinates seeds."
        return
    if not any(_is_verb(word) for word in words) and "to" not in words[1:-1]:
        message = f"No word of {subject.name!r} says what it does."
        yield finding(subject.name, "name-verb", "name", message)


def _begins_with(description: str, word: str) -> bool:
    """Tell whether the first of several words in *description* is *word*, or its third person."""
    first = _FIRST_WORD.match(description)
    forms = (word, f"{word}s", f"{word}es", f"{word.removesuffix('y')}ies")
    return first is not None and first.group(1).lower() in forms


def _is_verb(word: str) -> bool:
    # `getall`
    forms = (word, word.removesuffix("all"))
    return any(
        # `hset`, `unset`
        form in VERBS or (len(form) > 3 and form[1:] in VERBS)
        for form in forms
    )


def hints(subject: Subject) -> Iterator[Finding]:
    """Check that a tool that deletes says so in its hints."""
    action = next((word for word in subject.words if word in VERBS), "")
    if not _destroys(action, subject):
        return
    annotations = subject.tool.annotations
    if annotations is not None and annotations.readOnlyHint:
        message = f"The name says {action!r}, but the hints say read-only."
        yield finding(subject.name, "hint-contradicts", "annotations", message)
    elif annotations is None or "destructiveHint" not in annotations.model_fields_set:
        message = f"The name says {action!r}, but no hint says that it destroys data."
        yield finding(subject.name, "hint-destructive", "annotations", message)


def _destroys(action: str, subject: Subject) -> bool:
    """Return whether the verb *action* in the tool's name means that the tool destroys data.

    A verb such as "delete" at the start of the name is enough. In other cases the
    description must say so too.
    """
    description = subject.description
    if action in _DELETES:
        first = subject.words[0] == action or not description.isascii()
        return first or _TAKING.search(" ".join(description.split()[:5])) is not None
    return action in _TAKES_AWAY and _FOR_GOOD.search(description) is not None
