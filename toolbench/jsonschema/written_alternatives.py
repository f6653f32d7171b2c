"""Alternatives as they are written in a schema: their keyword, and those that were merged."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.walk import TOGETHER, alternatives_in

_OF_THE_WHOLE = frozenset({*TOGETHER, "title", "description", "default"})


def one_of(schemas: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of a value that fits exactly one of *schemas*."""
    return {"oneOf": list(schemas)}


def keyword_of(node: Node) -> str:
    """Return the keyword under which *node* lists alternatives; empty if it lists none."""
    return alternatives_in(node.raw)[0] if isinstance(node.raw, Mapping) else ""


def merged_alternatives(node: Node) -> list[Node]:
    """Return the alternatives merged into *node*, each with the limits that all share."""
    return [node.view.node(_with_limits(node, part)) for part in node.merged]


def _with_limits(node: Node, part: Any) -> Any:
    if not isinstance(part, Mapping) or "type" in part:
        return part
    beside = {k: v for k, v in node.schema.items() if k not in _OF_THE_WHOLE}
    return {**beside, **part}
