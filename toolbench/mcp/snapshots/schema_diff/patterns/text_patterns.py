"""The patterns of two places of schemas, held against each other."""

from math import inf

from toolbench.jsonschema.normal import Node
from toolbench.mcp.snapshots.schema_diff.difference import said
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    UndecidedError,
    text_beyond,
)


def beyond(node: Node, other: Node) -> list[str]:
    """Return texts that fit the pattern and the lengths of *node*, and not the pattern of *other*.

    None are returned if there are none; where it cannot be told, texts that may be some.
    """
    least, most = node.limit("minLength") or 0, node.limit("maxLength")
    pattern, excluded = _pattern(node), _pattern(other)
    try:
        text = text_beyond(
            pattern, excluded, least=int(least), most=inf if most is None else most
        )
    except UndecidedError:
        return [""]
    return [] if text is None else [text]


def is_within(pattern: str, other: str) -> bool:
    """Tell whether *other* surely matches all that *pattern* matches."""
    try:
        return text_beyond(pattern, other) is None
    except UndecidedError:
        return False


def _pattern(node: Node) -> str:
    pattern = said(node, "pattern")
    return pattern if isinstance(pattern, str) else ""  # which matches everything
