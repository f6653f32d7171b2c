"""Hints of schemas that forbid nothing: descriptions, defaults, formats."""

from collections.abc import Iterator
from typing import Any

from toolbench.jsonschema.normal import Node
from toolbench.mcp.snapshots.schema_diff.difference import Difference, difference
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.plain import clip

_GUIDING = ("default", "format", "examples", "deprecated", "contentMediaType")
"""What a model or a person reads before filling in a value."""
_MAX_TEXT = 80  # characters of a text that is quoted


def guidance(before: Node, after: Node) -> Iterator[Difference]:
    """Yield what is said otherwise of the value at one place."""
    if before.description != after.description:
        text = worded("the description", before.description, after.description)
        texts = before.description or None, after.description or None
        yield difference("guidance", "description", *texts, text)
    for keyword in _GUIDING:
        old, new = before.schema.get(keyword), after.schema.get(keyword)
        if not same(old, new):
            text = worded(f"the {_NAMES.get(keyword, keyword)}", old, new)
            yield difference("guidance", keyword, old, new, text)
    if before.title != after.title:
        text = worded("the title", before.title, after.title)
        texts = before.title or None, after.title or None
        yield difference("spelling", "title", *texts, text)


_NAMES = {"examples": "list of examples", "deprecated": "mark 'deprecated'"}


def worded(what: str, old: Any, new: Any) -> str:
    """Say that *what* changed, came or went."""
    if old in (None, ""):
        return f"{what} is {_quoted(new)} now; there was none"
    if new in (None, ""):
        return f"{what} {_quoted(old)} is gone"
    return f"{what} was {_quoted(old)} and is {_quoted(new)} now"


def _quoted(value: Any) -> str:
    return clip(value, _MAX_TEXT)
