"""Example values of a schema, for sentences that show a person how to write a value."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

# A node validates, and the sentences of its problems have examples
if TYPE_CHECKING:
    from toolbench.jsonschema.normal import Node

FORMAT_EXAMPLES: Mapping[str, tuple[str, str]] = {
    "date": ("2024-01-31", "2024-02-29"),
    "date-time": ("2024-01-31T09:30:00Z", "2024-02-29T18:00:00Z"),
    "duration": ("PT1H30M", "P1DT2H"),
    "email": ("ada@example.org", "alan@example.org"),
    "hostname": ("example.org", "www.example.org"),
    "ipv4": ("192.0.2.1", "192.0.2.7"),
    "ipv6": ("2001:db8::1", "2001:db8::7"),
    "time": ("09:30:00Z", "18:00:00Z"),
    "uri": ("https://example.org/", "https://example.org/page"),
    "url": ("https://example.org/", "https://example.org/page"),
    "uuid": (
        "123e4567-e89b-42d3-a456-426614174000",
        "123e4567-e89b-42d3-a456-426614174001",
    ),
}
"""Two texts of each format."""
TEXTS = ("one", "two")
"""Two texts of no format."""
# Levels of lists and objects
_DEPTH = 3
_LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def example_values(node: "Node", depth: int = _DEPTH) -> list[Any]:
    """Return one or two values as a person may write them for *node*. Texts may not fit its pattern."""
    known = [value for value in (*node.values, *node.examples) if value is not None]
    if known:
        return known[:2]
    branches = [each for each in node.alternatives if each.type != "null"]
    if node.branches and branches:
        return example_values(branches[0], depth)
    match node.type:
        case "integer" | "number":
            return _numbers(node)
        case "boolean":
            return [True, False]
        case "array":
            return [_list(node, depth - 1)]
        case "object":
            return [_object(node, depth - 1)]
    return list(FORMAT_EXAMPLES.get(node.format, TEXTS))


def _list(node: "Node", depth: int) -> list[Any]:
    if depth <= 0:
        return []
    if node.prefix_items:
        return [example_values(item, depth)[0] for item in node.prefix_items]
    return list(TEXTS) if node.items is None else example_values(node.items, depth)


def _object(node: "Node", depth: int) -> dict[str, Any]:
    names = (node.required or node.names[:1]) if depth > 0 else ()
    return {name: example_values(node.at(name), depth)[0] for name in names}


def _numbers(node: "Node") -> list[Any]:
    """Return two numbers within the limits of *node*; if this finds none, 1 and 2."""
    step = node.limit("multipleOf") or 1
    ends = [end for end in map(node.limit, _LIMITS) if end is not None]
    simple = (1, 2) if node.type == "integer" else (1.5, 2)
    near = [end + n * step for end in ends for n in (0, 1, 2, -1, -2)]
    numbers = [n for n in (*simple, step, 2 * step, *near) if node.fits(n)]
    return list(dict.fromkeys(numbers))[:2] or list(simple)
