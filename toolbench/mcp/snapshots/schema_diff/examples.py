"""Make simple values that should fit a schema. The same schema always gives the same values."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from toolbench.errors import SchemaError
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.mcp.snapshots.schema_diff.difference import keyword_value
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    texts_matching,
)

# Characters or items of an example
_LONGEST = 10_000
# Levels of an example
_DEPTH = 6
_TEXTS = (
    *("a", "abc", "A", "ABC", "1", "123", "a1", "a-b", "a_b", "a.b", "a b", "", "é"),
    *("/a", "a/b", "./a", "a.txt", "A-1", "ABC-123", "#a", "#aabbcc", "@a", "+1234567"),
    *("1.0.0", "v1.0.0", "12:00", "00", "0000", "00000", "AAPL", "en", "en-US", "USD"),
    *("0x1a", "abcdef0123456789", "a" * 32, "0" * 40, "a" * 64, "x://a", "a:b", "10%"),
    *(text for text, _ in FORMAT_EXAMPLES.values()),
)


def example_of(node: Node, depth: int = _DEPTH) -> Any:
    """Return a simple value that should fit *node*; it is not checked."""
    for value in (node.default, *node.examples[:1]):
        if value is not None and node.fits(value):
            return value
    if node.values:
        return node.values[0]
    if node.branches:
        return example_of(node.alternatives[0], depth) if node.alternatives else None
    return _of_type(node, depth)


def _of_type(node: Node, depth: int) -> Any:
    match node.type:
        case "object":
            return _object(node, depth)
        case "array":
            return _array(node, depth)
        case "string":
            return next(texts_of(node), "a")
        case "integer" | "number":
            return next(numbers_of(node), 0)
        case "boolean":
            return True
    return None if node.type == "null" else "a"


def others(kinds: "set[str]") -> list[Any]:
    """Return a value of each type that is not in *kinds*; "number" in *kinds* includes integers."""
    plain: dict[str, Any] = {
        "string": "a",
        "integer": 1,
        "number": 0.5,
        "boolean": True,
        "array": [],
        "object": {},
        "null": None,
    }
    if "number" in kinds:
        kinds = kinds | {"integer"}
    return [value for kind, value in plain.items() if kind not in kinds]


def texts_of(node: Node) -> Iterator[str]:
    """Yield texts that fit the length and the pattern of *node*."""
    least, most = _length(node, "minLength", 0), _length(node, "maxLength", _LONGEST)
    pattern = keyword_value(node, "pattern")
    try:
        judge = validator_of({"pattern": pattern}) if isinstance(pattern, str) else None
    except SchemaError:
        judge = None
    own = texts_matching(pattern, (least, most)) if judge is not None else ()
    for text in chain(_texts_between(node, least, most), own):
        if least <= len(text) <= most and (judge is None or judge.is_valid(text)):
            yield text


def _texts_between(node: Node, least: int, most: int) -> Iterator[str]:
    yield from FORMAT_EXAMPLES.get(node.format, ())
    yield from _TEXTS
    for size in dict.fromkeys((least, most, least + 1, most - 1)):
        if 0 < size < _LONGEST:
            yield from ("a" * size, "A" * size, "1" * size)
            yield from ((text * size)[:size] for text in ("a1", "a-", "Aa1", "/a"))


def numbers_of(node: Node) -> Iterator[Any]:
    """Yield numbers that fit *node*, also near its limits."""
    limits = map(node.limit, ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"))
    ends = [limit for limit in limits if limit is not None]
    step = node.limit("multipleOf")
    steps = [] if step is None else [step, 2 * step]
    near = [n + d for n in ends for d in (0, 1, -1)]
    # An integer has no largest value
    with suppress(OverflowError):
        near += [n + d for n in ends for d in (0.5, -0.5)]
        near += _between(ends)
    values = [1, 0, *near, *steps, 0.5, -1, 10, 1000]
    if node.type == "integer":
        values = [int(n) for n in values if isinstance(n, int) or n.is_integer()]
    unique = list(dict.fromkeys(values))
    yield from [n for n in unique if node.fits(n)]


def _between(ends: list[Any]) -> list[Any]:
    return [(min(ends) + max(ends)) / 2] if ends else []


def _object(node: Node, depth: int) -> dict[str, Any]:
    if depth <= 0:
        return {}
    example = {name: example_of(node.properties[name], depth - 1) for name in node.required}
    least = _length(node, "minProperties", 0)
    free = (name for name in node.properties if name not in example)
    for name in islice(free, max(0, least - len(example))):
        example[name] = example_of(node.properties[name], depth - 1)
    if not node.is_closed:
        for number in range(min(least - len(example), 50)):
            inner = node.additional
            example[f"key{number}"] = "a" if inner is None else example_of(inner, depth - 1)
    return example


def _array(node: Node, depth: int) -> list[Any]:
    first = [example_of(item, depth - 1) for item in node.prefix_items]
    count = min(_length(node, "minItems", 0), _LONGEST) - len(first)
    if count <= 0 or depth <= 0:
        return first
    if keyword_value(node, "uniqueItems") is True:
        return [*first, *islice(_distinct(node.items), count)]
    item = "a" if node.items is None else example_of(node.items, depth - 1)
    return [*first, *[item] * count]


def _distinct(node: Node | None) -> Iterator[Any]:
    if node is None or node.type == "string":
        yield from (_TEXTS if node is None else texts_of(node))
    elif node.values:
        yield from node.values
    elif node.type in ("integer", "number"):
        yield from numbers_of(node)
    else:
        yield example_of(node)


def _length(node: Node, keyword: str, otherwise: int) -> int:
    length = node.limit(keyword)
    return otherwise if length is None else int(length)
