"""Create sample values for JSON Schemas: values that should be valid, and values at the limits.

The values are not validated, so some may be invalid. The same schema always gives the same values.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, pairwise
from typing import Any

from toolbench.errors import SchemaError
from toolbench.jsonschema.compose import leaves_type_open
from toolbench.jsonschema.node import Node, merged_alternatives
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.words import FORMAT_EXAMPLES

ANOTHER = "Another Key 1"
"""A key that hardly any schema declares."""
LARGEST = {"Length": 100_000, "Items": 5_000, "Properties": 200}
"""The largest sizes of values that are created for a limit, such as `minLength`."""
# The most values of a schema, and of one of its parts
_MOST, _OF_ONE = 60, 8
# The most levels of a value
_DEEPEST = 6
# From this length on, only strings of the letter `a` are tried
_LONG = 1_000
# If there are no more integers between two limits, all are tried
_FEW = 50
# The most parts of one value, and of all values for one schema
_MOST_PARTS, _MOST_IN_ALL = 6_000, 12_000
_TEXTS = (
    *("a", "abc", "A", "ABC", "1", "123", "a1", "a-b", "a_b", "a.b", "a b", "", "é"),
    *("/a", "a/b", "./a", "a.txt", "A-1", "ABC-123", "#a", "#aabbcc", "@a", "+1234567"),
    *("1.0.0", "v1.0.0", "12:00", "00", "0000", "00000", "AAPL", "en", "en-US", "USD"),
    *("0x1a", "abcdef0123456789", "a" * 32, "0" * 40, "a" * 64, "x://a", "a:b", "10%"),
    *(text for text, _ in FORMAT_EXAMPLES.values()),
)
_OF_EACH_TYPE: tuple[Any, ...] = (
    *("a", "toolbench", 1, 987654321, 0.5, True, False),
    *([], ["a"], {}, {"a": "a"}),
)


class _Effort:
    """A limit on the parts of values to create, because a schema may require any number of them."""

    def __init__(self, left: int = _MOST_PARTS) -> None:
        """Allow *left* parts."""
        self.left = left


# --- values of a schema -----------------------------------------------------------------


def samples(node: Node) -> list[Any]:
    """Return values that should fit *node*: a simple one, then variations of each part."""
    return list(islice(_values(node, _DEEPEST, _Effort(_MOST_IN_ALL)), _MOST))


def example_of(node: Node) -> Any:
    """Return a simple value that should fit *node*."""
    return _first(node, _DEEPEST, _Effort())


def base_of(node: Node) -> dict[str, Any]:
    """Return an object with few keys that should fit *node*; empty if no object fits."""
    example = example_of(node)
    if isinstance(example, dict):
        return example
    return {}


def options_of(node: Node) -> list[Node]:
    """Return the alternatives of *node* except null, including those merged into one node."""
    options: list[Node] = []
    for each in node.alternatives:
        if each.merged and each.type in ("string", "integer", "number") and not each.values:
            options += merged_alternatives(each)
        elif each.type != "null" or len(node.alternatives) == 1:
            options.append(each)
    return options or [node]


def _values(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    """Yield values for *node* with at most *depth* levels; the first is simple."""
    effort.left -= 1
    for value in (node.default, *node.examples[:1]):
        if value is not None and node.fits(value):
            yield value
    if effort.left > 0:
        yield from _in_turn(_of_option(each, depth, effort) for each in options_of(node)[:_MOST])
    if node.takes_null:
        yield None


def _first(node: Node, depth: int, effort: _Effort) -> Any:
    return next(_values(node, depth, effort), "a")


def _in_turn(sources: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the first value of each of *sources*, then the second, and so on."""
    todo = deque(sources)
    while todo:
        source = todo.popleft()
        for value in source:
            yield value
            todo.append(source)
            break


def _of_option(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    if node.values:
        yield from node.values
        return
    match node.type:
        case "object":
            yield from _objects(node, depth, effort)
        case "array":
            yield list_of(node, least_of(node, "minItems"), depth, effort)
            if node.items is not None and depth > 0:
                for item in _values(node.items, depth - 1, effort):
                    yield [item]
        case "integer" | "number":
            yield from filter(node.fits, numbers_near(node))
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case _:
            yield from _texts_of(node)


def _objects(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    """Yield objects with few keys, with all keys, with an undeclared key, and with other values."""
    base: dict[str, Any] = {}
    if depth <= 0:
        yield base
        return
    for name in node.required:
        if effort.left > 0:
            base[name] = _first(node.properties[name], depth - 1, effort)
    base = with_keys(node, base, least_of(node, "minProperties"), depth, effort)
    yield base
    yield with_keys(node, base, len(node.properties), depth, effort)
    if not node.is_closed:
        yield {**base, ANOTHER: of_another_key(node, depth, effort)}
    yield from _in_turn(
        _with_part(base, name, islice(_values(part, depth - 1, effort), _OF_ONE))
        for name, part in node.properties.items()
    )


def _with_part(base: dict[str, Any], name: str, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        yield {**base, name: value}


def with_keys(
    node: Node,
    base: dict[str, Any],
    count: int,
    depth: int = _DEEPEST,
    effort: _Effort | None = None,
) -> dict[str, Any]:
    """Return *base* with keys added, so that it has *count* keys if *node* allows that many."""
    effort = effort or _Effort()
    value = dict(base)
    for name, part in node.properties.items():
        if len(value) < count and name not in value and effort.left > 0:
            value[name] = _first(part, depth - 1, effort)
    while len(value) < count and not node.is_closed and effort.left > 0:
        value[f"key{len(value)}"] = of_another_key(node, depth, effort)
        effort.left -= 1
    return value


def of_another_key(node: Node, depth: int = _DEEPEST, effort: _Effort | None = None) -> Any:
    """Return a value for a key that *node* does not declare."""
    if node.additional is None:
        return "a"
    return _first(node.additional, depth - 1, effort or _Effort())


def list_of(
    node: Node, count: int, depth: int = _DEEPEST, effort: _Effort | None = None
) -> list[Any]:
    """Return a list of *count* items, or more if *node* has schemas for more positions."""
    effort = effort or _Effort()
    values: list[Any] = []
    if depth <= 0:
        return values
    for item in node.prefix_items:
        values.append(_first(item, depth - 1, effort))
    missing = count - len(values)
    if missing <= 0:
        return values
    item = node.items or node.view.anything
    if node.schema.get("uniqueItems") is True:
        return [*values, *islice(_distinct(item, depth, effort), missing)]
    before = effort.left
    rest = _first(item, depth - 1, effort)
    parts = max(1, before - effort.left)
    missing = max(1, min(missing, before // parts))
    effort.left = before - missing * parts
    return values + [rest] * missing


def _distinct(node: Node, depth: int, effort: _Effort) -> Iterator[Any]:
    known = []
    for value in _values(node, depth - 1, effort):
        if value not in known:
            known.append(value)
            yield value


def least_of(node: Node, keyword: str) -> int:
    """Return the minimum that *keyword*, such as `minItems`, sets; 0 if it is not a number."""
    limit = node.limit(keyword)
    if limit is None or not limit > 0:
        return 0
    return int(min(limit, LARGEST[keyword[3:]]))


def every_value_of(node: Node) -> list[Any]:
    """Return all values that *node* accepts except null; empty if there are too many to try."""
    if node.values:
        return node.values
    if node.type == "boolean":
        return [True, False]
    least, most = node.limit("minimum"), node.limit("maximum")
    if node.type != "integer" or least is None or most is None or not 0 <= most - least <= _FEW:
        return []
    return list(range(int(least), int(most) + 1))


# --- numbers and strings ----------------------------------------------------------------


def numbers_near(*nodes: Node) -> list[Any]:
    """Return numbers at, near and between the limits of *nodes*; not all of them fit."""
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
    # Integers have no upper limit, but floats do
    with suppress(OverflowError, ValueError, ZeroDivisionError):
        for end, following in pairwise(ends):
            values.append((end + following) / 2)
        for end in ends:
            values += [end + 0.5, end - 0.5]
            for step in steps:
                multiple = end // step * step
                values += [multiple, multiple + step, multiple - step]
    # The last number is not a multiple of any step that schemas use
    values += [*steps, 0.5, -1, 10, 1000, 0.123457]
    if len(nodes) == 1 and nodes[0].type == "integer":
        values = [int(value) for value in values if value == value // 1]
    return list(dict.fromkeys(values))


def texts_near(*nodes: Node) -> Iterator[str]:
    """Yield strings in the formats of *nodes*, plain strings, and strings at length limits."""
    for node in nodes:
        yield from FORMAT_EXAMPLES.get(node.format, ())
    yield from _TEXTS
    for size in _sizes(nodes, "Length"):
        yield "a" * size
        if size < _LONG:
            for text in ("A", "1", "a1", "a-", "Aa1", "/a"):
                yield (text * size)[:size]


def _texts_of(node: Node) -> Iterator[str]:
    """Yield strings that fit the length limits and the pattern of *node*, plain ones first."""
    rules: dict[str, Any] = {}
    for keyword in ("minLength", "maxLength", "pattern"):
        if keyword in node.schema:
            rules[keyword] = node.schema[keyword]
    with suppress(SchemaError):
        yield from filter(validator_of(rules).is_valid, texts_near(node))


def _sizes(nodes: tuple[Node, ...], of: str) -> list[int]:
    """Return small sizes, and sizes at the limits of *nodes*, such as `minItems` for `Items`."""
    sizes = {0, 1, 2}
    for node in nodes:
        for limit in (node.limit(f"min{of}"), node.limit(f"max{of}")):
            if limit is not None and 0 <= limit < LARGEST[of]:
                sizes |= {int(limit), int(limit) + 1, max(0, int(limit) - 1)}
    return sorted(sizes)


def candidates(old: Node, new: Node) -> list[Any]:
    """Return values to try on both schemas: samples, values at limits, and each type."""
    nodes = old, new
    values = [*samples(old), *samples(new), *_OF_EACH_TYPE]
    kinds = {old.type, new.type}
    for node in nodes:
        if leaves_type_open(node.raw) or (node.type is None and not node.branches):
            kinds = {"number", "string", "array", "object"}
    if kinds & {"integer", "number"}:
        values += numbers_near(old, new)
    if "string" in kinds:
        values += texts_near(old, new)
    if "array" in kinds:
        for size in _sizes(nodes, "Items"):
            # The last list stands for lists that are too large to create
            values += [list_of(old, size), list_of(new, size), list(range(size))]
    if "object" in kinds:
        bases = [(node, base_of(node)) for node in nodes]
        for size in _sizes(nodes, "Properties"):
            for node, base in bases:
                values.append(with_keys(node, base, size))
    # Null is compared separately
    return [value for value in values if value is not None]
