"""Pair old and new alternatives of a union; find alternatives that others make unnecessary."""

from collections.abc import Iterable, Iterator
from json import dumps
from math import ceil, floor, inf

from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import (
    ADMITS,
    REFUSES,
    Difference,
    keyword_value,
)
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.mcp.snapshots.schema_diff.limits import end_of

NUMBERS = ("integer", "number")
"""The number types; integers are a part of numbers."""
_LIMITS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} | {"minLength", "maxLength"}
)
_SILENT = frozenset({"title", "description", "default", "examples", "type"})

_Span = tuple[tuple[float, bool], tuple[float, bool]]
"""The start and the end of a range, each with a bool: whether the start is outside of the range;
whether the end is inside."""


def partners(
    old: list[Node],
    new: list[Node],
    differences: dict[tuple[Node, Node], list[Difference]],
) -> dict[Node, Node]:
    """Return pairs of an *old* and a similar *new* alternative; no alternative is in two pairs."""
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
    """Return how similar two alternatives are, as a number; 0 means that they are not a pair."""
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
    """Return the constant properties of *node*, as text: they identify an alternative."""
    tags = {name: part.values[0] for name, part in node.properties.items() if len(part.values) == 1}
    return dumps(tags, sort_keys=True, default=str)


def keeps(differences: list[Difference], lost: frozenset[str]) -> bool:
    """Return True if none of *differences* has an effect that is in *lost*."""
    return not any(each.effect in lost for each in differences)


def remaining_losses(
    differences: list[Difference], *, refused: bool, admitted: bool
) -> Iterator[Difference]:
    """Yield the differences of a pair, except differences that another alternative cancels.

    A difference that refuses values is yielded only if *refused* is true: no other alternative
    accepts these values. A difference that allows values is yielded only if *admitted* is true.
    """
    for each in differences:
        loses = each.effect in REFUSES and not refused
        gains = each.effect in ("wider", "different") and not admitted
        if not (loses or gains):
            yield each


# --- ranges that were split ---------------------------------------------------------------


def covered(nodes: Iterable[Node], others: list[Node]) -> set[Node]:
    """Return each number or text schema whose values are all accepted by *others* together."""
    return {node for node in nodes if _is_covered(node, others)}


def _is_covered(node: Node, others: list[Node]) -> bool:
    if node.type not in (*NUMBERS, "string") or node.values:
        return False
    spans = sorted(_span(other) for other in others if _may_cover(other, node))
    start, end = _span(node)
    for first, last in spans:
        if first > start:
            return False
        if last >= end:
            return True
        start = max(start, _next(last, is_whole=node.type != "number"))
    return False


def _may_cover(other: Node, node: Node) -> bool:
    """Tell whether *other* is of the type of *node*, and differs from it only in limits."""
    kinds = {"number", node.type} if node.type in NUMBERS else {"string"}
    return (
        other.type in kinds
        and not other.values
        and all(
            key in _LIMITS | _SILENT or same(keyword_value(node, key), value)
            for key, value in other.schema.items()
        )
    )


def _span(node: Node) -> _Span:
    if node.type == "string":
        least, most = node.limit("minLength") or 0, node.limit("maxLength")
        return (least, False), (inf if most is None else most, True)
    low, high = end_of(node, lower=True), end_of(node, lower=False)
    return (low.value, low.is_exclusive), (high.value, not high.is_exclusive)


def _next(last: tuple[float, bool], *, is_whole: bool) -> tuple[float, bool]:
    """Return where the next range must start, so that no number after *last* is left out."""
    value, is_inside = last
    if not is_whole or value == inf:
        return last
    return (floor(value) + 1 if is_inside else ceil(value)), False
