"""A few whole values that a schema takes: to try one schema's values on another."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolbench.jsonschema.normal import Node
from toolbench.mcp.snapshots.schema_diff.examples import (
    example_of,
    numbers_of,
    texts_of,
)

ANOTHER = "Another Key 1"
"""A key that hardly any schema declares."""
_MOST = 40
_OF_ONE = 6
_DEPTH = 4


def samples(node: Node) -> Iterator[Any]:
    """Yield values that should fit *node*: the plainest, then each part of it in turn."""
    yield from islice(_of(node, _DEPTH), _MOST)


def _of(node: Node, depth: int) -> Iterator[Any]:
    yield example_of(node)
    if node.takes_null:
        yield None
    if depth <= 0:
        return
    for option in node.alternatives:
        yield from islice(_of_option(option, depth), _MOST)


def _of_option(node: Node, depth: int) -> Iterator[Any]:
    if node.values:
        yield from node.values[:_OF_ONE]
        return
    match node.type:
        case "string":
            yield from islice(texts_of(node), _OF_ONE)
        case "integer" | "number":
            yield from islice(numbers_of(node), _OF_ONE)
        case "boolean":
            yield from (True, False)
        case "array" if node.items is not None:
            for item in islice(_of(node.items, depth - 1), _OF_ONE):
                yield [item]
        case "object":
            yield from _objects(node, depth)


def _objects(node: Node, depth: int) -> Iterator[Any]:
    base = example_of(node)
    base = base if isinstance(base, dict) else {}
    parts = {
        name: list(islice(_of(part, depth - 1), _OF_ONE))
        for name, part in node.properties.items()
    }
    yield {name: values[0] for name, values in parts.items() if values}
    if not node.is_closed:
        other = "a" if node.additional is None else example_of(node.additional)
        yield {**base, ANOTHER: other}
    for name, values in parts.items():
        for value in values:
            yield {**base, name: value}
