"""Make a few sample values of a schema, to try them on another schema."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from toolbench.jsonschema.node import Node, merged_alternatives
from toolbench.mcp.snapshots.schema_diff.examples import (
    example_of,
    numbers_of,
    texts_of,
)

ANOTHER = "Another Key 1"
"""A key that almost no schema declares."""
# Values of a schema
_MOST = 60
# Values of one part
_OF_ONE = 8
# Levels of parts
_DEPTH = 4


def samples(node: Node) -> Iterator[Any]:
    """Yield values that should fit *node*: a simple value, then values with changes in each part."""
    yield from islice(_of(node, _DEPTH), _MOST)


def _of(node: Node, depth: int) -> Iterator[Any]:
    yield example_of(node)
    if node.takes_null:
        yield None
    if depth > 0:
        options = [part for each in node.alternatives for part in _parts(each)]
        yield from _in_turn(_of_option(option, depth) for option in options)


def _parts(node: Node) -> list[Node]:
    """Return the alternatives that were merged into *node*, a number or text; else only *node*."""
    if node.type not in ("string", "integer", "number") or not node.merged:
        return [node]
    return merged_alternatives(node)


def _in_turn(sources: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the first value of each of *sources*, then the second, and so on."""
    todo = deque(islice(sources, _MOST))
    while todo:
        source = todo.popleft()
        for value in source:
            yield value
            todo.append(source)
            break


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
        name: list(islice(_of(part, depth - 1), _OF_ONE)) for name, part in node.properties.items()
    }
    yield {name: values[0] for name, values in parts.items() if values}
    if not node.is_closed:
        other = "a" if node.additional is None else example_of(node.additional)
        yield {**base, ANOTHER: other}
    yield from _in_turn(_with_part(base, name, values) for name, values in parts.items())


def _with_part(base: dict[str, Any], name: str, values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield {**base, name: value}
