"""Make values to try on schemas: some that should fit, some at the limits. None of them is checked.

The same schema always gives the same values.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, pairwise
from typing import Any
from weakref import WeakKeyDictionary

from toolbench.errors import SchemaError
from toolbench.jsonschema.compose import leaves_type_open
from toolbench.jsonschema.node import Node, merged_alternatives
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.words import FORMAT_EXAMPLES

ANOTHER = "Another Key 1"
"""A key that almost no schema declares."""
# Values of a schema, and of one part of it
_MOST, _OF_ONE = 60, 8
# Levels of the parts that are varied, and of an example
_DEPTH, _DEEPEST = 4, 6
# Characters or items of a value that is made for a limit
_LONGEST = 10_000
# Keys of a value that is made for a limit
MOST_KEYS = 200
# Parts of one example, and of all values that are made of one schema
_MOST_PARTS, _MOST_IN_ALL = 12_000, 50_000
_TEXTS = (
    *("a", "abc", "A", "ABC", "1", "123", "a1", "a-b", "a_b", "a.b", "a b", "", "é"),
    *("/a", "a/b", "./a", "a.txt", "A-1", "ABC-123", "#a", "#aabbcc", "@a", "+1234567"),
    *("1.0.0", "v1.0.0", "12:00", "00", "0000", "00000", "AAPL", "en", "en-US", "USD"),
    *("0x1a", "abcdef0123456789", "a" * 32, "0" * 40, "a" * 64, "x://a", "a:b", "10%"),
    *(text for text, _ in FORMAT_EXAMPLES.values()),
)
_bases: WeakKeyDictionary[Node, dict[str, Any]] = WeakKeyDictionary()
_OF_EACH_TYPE: tuple[Any, ...] = (
    *("a", "toolbench", 1, 987654321, 0.5, True, False, None),
    *([], ["a"], {}, {"a": "a"}),
)


# --- one value --------------------------------------------------------------------------


class _Effort:
    """The parts that may still be made of a value: a schema can ask for any number of them."""

    def __init__(self, left: int = _MOST_PARTS) -> None:
        """Begin with *left*."""
        self.left = left


def example_of(node: Node, depth: int = _DEEPEST, effort: _Effort | None = None) -> Any:
    """Return a simple value that should fit *node*."""
    effort = effort or _Effort()
    effort.left -= 1
    for value in (node.default, *node.examples[:1]):
        if value is not None and node.fits(value):
            return value
    if node.values:
        return node.values[0]
    if node.branches:
        if not node.alternatives or effort.left <= 0:
            return None
        return example_of(node.alternatives[0], depth, effort)
    return _of_type(node, depth, effort)


def _of_type(node: Node, depth: int, effort: _Effort) -> Any:
    match node.type:
        case "object":
            return _object(node, depth, effort)
        case "array":
            return list_of(node, least_of(node, "minItems"), depth, effort)
        case "string":
            return next(_texts_of(node), "a")
        case "integer" | "number":
            return next(filter(node.fits, numbers_near(node)), 0)
        case "boolean":
            return True
        case "null":
            return None
    return "a"


def base_of(node: Node) -> dict[str, Any]:
    """Return an object that should fit *node*, with few keys; empty if *node* takes no object.

    It is made once for each node: do not change it.
    """
    if node not in _bases:
        example = example_of(node)
        if not isinstance(example, dict):
            example = {}
        _bases[node] = example
    return _bases[node]


def _object(node: Node, depth: int, effort: _Effort) -> dict[str, Any]:
    example: dict[str, Any] = {}
    if depth > 0:
        for name in node.required:
            if effort.left <= 0:
                break
            example[name] = example_of(node.properties[name], depth - 1, effort)
        least = least_of(node, "minProperties")
        example = with_keys(node, example, least, depth - 1, effort)
    return example


def with_keys(
    node: Node,
    base: dict[str, Any],
    count: int,
    depth: int = _DEEPEST,
    effort: _Effort | None = None,
) -> dict[str, Any]:
    """Return *base* with further keys, so that it has *count* of them if *node* lets it."""
    effort = effort or _Effort()
    value = dict(base)
    for name, part in node.properties.items():
        if len(value) < count and name not in value and effort.left > 0:
            value[name] = example_of(part, depth, effort)
    while len(value) < min(count, MOST_KEYS) and not node.is_closed and effort.left > 0:
        other: Any = "a"
        if node.additional is not None:
            other = example_of(node.additional, depth, effort)
        value[f"key{len(value)}"] = other
        effort.left -= 1
    return value


def list_of(
    node: Node, count: int, depth: int = _DEEPEST, effort: _Effort | None = None
) -> list[Any]:
    """Return a list of *count* items, or more if the first items of *node* have schemas of their own."""
    effort = effort or _Effort()
    values: list[Any] = []
    if depth <= 0 or effort.left <= 0:
        return values
    for item in node.prefix_items:
        values.append(example_of(item, depth - 1, effort))
    missing = min(count, _LONGEST) - len(values)
    if missing <= 0:
        return values
    if node.schema.get("uniqueItems") is True:
        return [*values, *islice(_distinct(node.items), missing)]
    rest: Any = "a"
    before = effort.left
    if node.items is not None:
        rest = example_of(node.items, depth - 1, effort)
    parts = max(1, before - effort.left)
    missing = max(1, min(missing, before // parts))
    effort.left = before - missing * parts
    return values + [rest] * missing


def _distinct(node: Node | None) -> Iterator[Any]:
    if node is None:
        yield from _TEXTS
    elif node.values:
        yield from node.values
    elif node.type == "string":
        yield from dict.fromkeys(_texts_of(node))
    elif node.type in ("integer", "number"):
        yield from filter(node.fits, numbers_near(node))
    else:
        yield example_of(node)


def least_of(node: Node, keyword: str) -> int:
    """Return the number that *keyword*, such as `minItems`, asks for at least; 0 if it is no number."""
    limit = node.limit(keyword)
    if limit is None or not limit > 0:
        return 0
    return int(min(limit, _LONGEST))


# --- numbers and texts ------------------------------------------------------------------


def numbers_near(*nodes: Node) -> list[Any]:
    """Return numbers at the limits of *nodes*, beside them and between them; not all of them fit."""
    ends: list[Any] = []
    steps: list[Any] = []
    for node in nodes:
        for keyword in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
            if (end := node.limit(keyword)) is not None:
                ends.append(end)
        if step := node.limit("multipleOf"):
            steps += [step, 2 * step, 3 * step, -step]
    values: list[Any] = [1, 0]
    for end in ends:
        values += [end, end + 1, end - 1]
    ends.sort()
    # An integer has no largest value, a float has
    with suppress(OverflowError, ValueError, ZeroDivisionError):
        for end, following in pairwise(ends):
            values.append((end + following) / 2)
        for end in ends:
            values += [end + 0.5, end - 0.5]
            for step in steps:
                multiple = end // step * step
                values += [multiple, multiple + step, multiple - step]
    # The last one is a multiple of no step that a schema names
    values += [*steps, 0.5, -1, 10, 1000, 0.123457]
    if len(nodes) == 1 and nodes[0].type == "integer":
        values = [int(value) for value in values if value == value // 1]
    return list(dict.fromkeys(values))


def texts_near(*nodes: Node) -> Iterator[str]:
    """Yield texts of the formats of *nodes*, plain texts, and texts of lengths at their limits."""
    for node in nodes:
        yield from FORMAT_EXAMPLES.get(node.format, ())
    yield from _TEXTS
    sizes: dict[int, None] = {}
    for node in nodes:
        for keyword in ("minLength", "maxLength"):
            limit = node.limit(keyword)
            if limit is not None and 0 <= limit < _LONGEST:
                sizes |= dict.fromkeys((int(limit), int(limit) + 1, max(0, int(limit) - 1)))
    for size in sizes:
        for text in ("a", "A", "1", "a1", "a-", "Aa1", "/a"):
            yield (text * size)[:size]


def _texts_of(node: Node) -> Iterator[str]:
    """Yield texts that fit the length and the pattern of *node*, plain ones first."""
    least, most = node.limit("minLength") or 0, node.limit("maxLength")
    judge = None
    pattern = node.schema.get("pattern")
    if isinstance(pattern, str):
        with suppress(SchemaError):
            judge = validator_of({"pattern": pattern})
    for text in texts_near(node):
        is_short = most is None or len(text) <= most
        if is_short and len(text) >= least and (judge is None or judge.is_valid(text)):
            yield text


# --- many values ------------------------------------------------------------------------


def samples(node: Node) -> Iterator[Any]:
    """Yield values that should fit *node*: a simple value, then values with changes in each part."""
    yield from islice(_of(node, _DEPTH, _Effort(_MOST_IN_ALL)), _MOST)


def _of(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    if effort.left <= 0:
        return
    # One example must not take what is left for the others
    own = _Effort(min(effort.left, _MOST_PARTS))
    before = own.left
    example = example_of(node, effort=own)
    effort.left -= before - own.left
    yield example
    if node.takes_null:
        yield None
    if depth > 0:
        sources = []
        for each in node.alternatives:
            parts = [each]
            if each.merged and each.type in ("string", "integer", "number"):
                parts = merged_alternatives(each)
            for part in parts:
                sources.append(_of_option(part, depth, effort))
        yield from _in_turn(sources)


def _in_turn(sources: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the first value of each of *sources*, then the second, and so on."""
    todo = deque(islice(sources, _MOST))
    while todo:
        source = todo.popleft()
        for value in source:
            yield value
            todo.append(source)
            break


def _of_option(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    if node.values:
        yield from node.values[:_OF_ONE]
        return
    match node.type:
        case "string":
            yield from islice(_texts_of(node), _OF_ONE)
        case "integer" | "number":
            yield from islice(filter(node.fits, numbers_near(node)), _OF_ONE)
        case "boolean":
            yield from (True, False)
        case "array" if node.items is not None:
            for item in islice(_of(node.items, depth - 1, effort), _OF_ONE):
                yield [item]
        case "object":
            yield from _objects(node, depth, effort)


def _objects(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    base = base_of(node)
    parts: dict[str, list[Any]] = {}
    for name, part in node.properties.items():
        parts[name] = list(islice(_of(part, depth - 1, effort), _OF_ONE))
    yield {name: values[0] for name, values in parts.items() if values}
    if not node.is_closed:
        other: Any = "a"
        if node.additional is not None:
            other = example_of(node.additional)
        yield {**base, ANOTHER: other}
    yield from _in_turn(_with_part(base, name, values) for name, values in parts.items())


def _with_part(base: dict[str, Any], name: str, values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield {**base, name: value}


def candidates(old: Node, new: Node) -> list[Any]:
    """Return values to try on both schemas: samples of both, values at their limits, and one of each type."""
    values = [*samples(old), *samples(new), *_OF_EACH_TYPE]
    kinds = {old.type, new.type}
    if leaves_type_open(old.raw) or leaves_type_open(new.raw):
        kinds = {"number", "string", "array", "object"}
    if kinds & {"integer", "number"}:
        values += numbers_near(old, new)
    if "string" in kinds:
        values += texts_near(old, new)
    for node in (old, new):
        if "array" in kinds:
            values += [list_of(node, size) for size in _sizes(old, new, "Items")]
        if "object" in kinds:
            base = base_of(node)
            values += [with_keys(node, base, size) for size in _sizes(old, new, "Properties")]
    return values


def _sizes(old: Node, new: Node, of: str) -> list[int]:
    sizes = {0, 1, 2}
    for node in (old, new):
        for limit in (node.limit(f"min{of}"), node.limit(f"max{of}")):
            if limit is not None and 0 <= limit < _LONGEST:
                sizes |= {int(limit), int(limit) + 1, max(0, int(limit) - 1)}
    return sorted(sizes)
