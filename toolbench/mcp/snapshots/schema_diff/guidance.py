"""Compare the parts of schemas that refuse no value: descriptions, defaults, formats."""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import Difference, difference
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.values import clip

_GUIDING = ("default", "format", "examples", "deprecated", "contentMediaType")
"""Keywords that guide a model or a person to a value."""
# Characters of a text that are quoted
_MAX_TEXT = 80
# Characters that are quoted before the first difference of two texts
_LEAD = 20


def guidance(before: Node, after: Node) -> Iterator[Difference]:
    """Yield the differences between two schemas in description, title and other hints."""
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
    """Return a phrase for a change: *what*, such as the title, was *old* and is *new* now."""
    if old in (None, ""):
        return f"{what} is {_quoted(new)} now; there was none"
    if new in (None, ""):
        return f"{what} {_quoted(old)} is gone"
    old, new = _from_where_they_differ(old, new)
    return f"{what} was {_quoted(old)} and is {_quoted(new)} now"


def _from_where_they_differ(old: Any, new: Any) -> tuple[Any, Any]:
    """Return *old* and *new*; long texts are returned without their common beginning."""
    if not isinstance(old, str) or not isinstance(new, str):
        return old, new
    pairs = zip(old, new, strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - _LEAD
    if start <= 0 or max(len(old), len(new)) <= _MAX_TEXT:
        return old, new
    return f"…{old[start:]}", f"…{new[start:]}"


def _quoted(value: Any) -> str:
    return clip(value, _MAX_TEXT)
