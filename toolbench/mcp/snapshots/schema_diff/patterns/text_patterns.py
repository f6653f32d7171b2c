"""Compare the patterns (`pattern`) of two schemas of texts."""

from math import inf

from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import keyword_value
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    UndecidedError,
    text_beyond,
)


def beyond(node: Node, other: Node) -> list[str]:
    """Return a list with one text that fits *node* (pattern and length), but not *other*'s pattern.

    The list is empty if there is no such text. If this cannot be decided, the list has an empty
    text.
    """
    least, most = node.limit("minLength") or 0, node.limit("maxLength")
    pattern, excluded = _pattern(node), _pattern(other)
    try:
        text = text_beyond(pattern, excluded, least=int(least), most=inf if most is None else most)
    except UndecidedError:
        return [""]
    return [] if text is None else [text]


def is_within(pattern: str, other: str) -> bool:
    """Tell whether *other* matches all texts that *pattern* matches; False if this is not certain."""
    try:
        return text_beyond(pattern, other) is None
    except UndecidedError:
        return False


def _pattern(node: Node) -> str:
    pattern = keyword_value(node, "pattern")
    # The empty pattern matches every text
    return pattern if isinstance(pattern, str) else ""
