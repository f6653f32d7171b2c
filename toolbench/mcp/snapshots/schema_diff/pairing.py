"""Which alternative of a union has become which, when it is not said."""

from collections.abc import Iterator
from json import dumps

from toolbench.jsonschema.normal import Node
from toolbench.mcp.snapshots.schema_diff.difference import ADMITS, REFUSES, Difference

NUMBERS = ("integer", "number")
"""The types of which one holds the other."""


def partners(
    old: list[Node],
    new: list[Node],
    differences: dict[tuple[Node, Node], list[Difference]],
) -> dict[Node, Node]:
    """Return which of the *new* alternatives each of the *old* ones has become."""
    scores = [
        (_likeness(one, other, differences[one, other]), -abs(i - j), one, other)
        for i, one in enumerate(old)
        for j, other in enumerate(new)
    ]
    partner: dict[Node, Node] = {}
    for likeness, _, one, other in sorted(scores, key=lambda s: s[:2], reverse=True):
        if likeness > 0 and one not in partner and other not in partner.values():
            partner[one] = other
    return partner


def _likeness(one: Node, other: Node, differences: list[Difference]) -> float:
    """Return how much two alternatives are alike; 0: one did not become the other."""
    if not differences:
        return 100
    kinds = {one.type, other.type}
    if len(kinds) > 1 and kinds - set(NUMBERS):
        return 0
    if _tags(one) != _tags(other):
        return 0
    same_name = bool(one.definition) and one.definition == other.definition
    shared = len(set(one.names) & set(other.names))
    union = len(set(one.names) | set(other.names)) or 1
    if one.names and other.names and not shared and not same_name:
        return 0
    losses = sum(each.effect in REFUSES | ADMITS for each in differences)
    return 1 + 20 * same_name + 10 * shared / union + 5 / (1 + losses)


def _tags(node: Node) -> str:
    """Return the constants that tell an alternative from the others, as text."""
    tags = {
        name: part.values[0]
        for name, part in node.properties.items()
        if len(part.values) == 1
    }
    return dumps(tags, sort_keys=True, default=str)


def keeps(differences: list[Difference], lost: frozenset[str]) -> bool:
    """Tell whether none of *differences* has one of the effects *lost*."""
    return not any(each.effect in lost for each in differences)


def told(
    differences: list[Difference], *, refused: bool, admitted: bool
) -> Iterator[Difference]:
    """Yield what matters of a pair of which other alternatives may make good the losses."""
    for each in differences:
        loses = each.effect in REFUSES and not refused
        gains = each.effect in ("wider", "different") and not admitted
        if not (loses or gains):
            yield each
