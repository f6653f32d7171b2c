"""Describe in words, and by examples, the values that a schema accepts."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from toolbench.jsonschema.node import Node, takes_nothing
from toolbench.jsonschema.words import FORMAT_EXAMPLES, TEXTS, limits, words
from toolbench.values import clip

# Levels of lists to describe
_NESTING = 3
# Values, types or keys to list
_MAX_VALUES = 20
# Characters of each
_WORD = 100


def about(node: Node) -> str:
    """Return the full description of *node*: the type, limits, default and purpose of the value."""
    details = "; ".join(facts(node))
    head = f"{kind(node)} ({details})" if details else kind(node)
    return ". ".join(filter(None, (head, node.explanation)))


def kind(node: Node) -> str:
    """Return in words the type of *node*, with the type of a list's items or an object's keys."""
    text = _kind(node, _NESTING)
    # A default of `null` means unset in Python
    unset = node.schema.get("default", ...) is None
    return f"{text} or null" if node.nullable and not unset else text


def facts(node: Node) -> list[str]:
    """List the limits, the format and the default of the value, each as a phrase.

    The limits of a list's items are one phrase, as in `each: at least 1`.
    """
    phrases = limits(node.schema)
    if node.format:
        phrases.append(words("format", node.format))
    if each := _of_each_item(node, _NESTING):
        phrases.append(f"each: {', '.join(each)}")
    if node.schema.get("default") is not None:
        phrases.append(words("default", node.schema["default"]))
    return [word(phrase) for phrase in phrases]


def _of_each_item(node: Node, fuel: int) -> list[str]:
    """List the limits of the items of *node*, and of the items of these."""
    if node.items is None or not fuel:
        return []
    inner = _of_each_item(node.items, fuel - 1)
    return [
        *limits(node.items.schema),
        *([f"each of these: {', '.join(inner)}"] if inner else []),
    ]


def word(value: Any) -> str:
    """Return *value* as a word in a sentence: a text unchanged, a blank text and other values as JSON."""
    if not isinstance(value, str) or not value.strip():
        return clip(value, _WORD)
    return value if len(value) <= _WORD else f"{value[: _WORD - 1]}…"


def _kind(node: Node, fuel: int) -> str:
    if takes_nothing(node):
        return "no value"
    if len(node.values) == 1:
        return f"only {word(node.values[0])}"
    if node.values:
        return f"one of {_list_of(node.values)}"
    if node.branches:
        some = islice(node.alternatives, _MAX_VALUES)
        return " or ".join(dict.fromkeys(_part(branch, fuel) for branch in some))
    if node.type == "array" and fuel:
        return _array(node, fuel - 1)
    if node.type == "object" and node.properties:
        return f"object of {_list_of(node.properties)}"
    return " or ".join(node.types) or "anything"


def _array(node: Node, fuel: int) -> str:
    if node.prefix_items:
        some = islice(node.prefix_items, _MAX_VALUES)
        return f"array of ({', '.join(_part(item, fuel) for item in some)})"
    if node.items is None or not (node.items.types or node.items.values):
        return "array"
    return f"array of {_part(node.items, fuel)}"


def _part(node: Node, fuel: int) -> str:
    """Return the type of *node*, a part of another type, with its format."""
    form = "" if node.values or not node.format else f" of format {word(node.format)}"
    return f"{_kind(node, fuel)}{form}"


def _list_of(values: Iterable[Any]) -> str:
    texts = [word(value) for value in values]
    more = len(texts) - _MAX_VALUES
    text = ", ".join(texts[:_MAX_VALUES])
    return f"{text}, … ({more} more)" if more > 0 else text


# --- example values ------------------------------------------------------------------

# Levels of lists and objects
_DEPTH = 3
_LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def example_values(node: Node, depth: int = _DEPTH) -> list[Any]:
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


def _list(node: Node, depth: int) -> list[Any]:
    if depth <= 0:
        return []
    if node.prefix_items:
        return [example_values(item, depth)[0] for item in node.prefix_items]
    return list(TEXTS) if node.items is None else example_values(node.items, depth)


def _object(node: Node, depth: int) -> dict[str, Any]:
    names = (node.required or node.names[:1]) if depth > 0 else ()
    return {name: example_values(node.at(name), depth)[0] for name in names}


def _numbers(node: Node) -> list[Any]:
    """Return two numbers within the limits of *node*; if this finds none, 1 and 2."""
    step = node.limit("multipleOf") or 1
    ends = [end for end in map(node.limit, _LIMITS) if end is not None]
    simple = (1, 2) if node.type == "integer" else (1.5, 2)
    near = [end + n * step for end in ends for n in (0, 1, 2, -1, -2)]
    numbers = [n for n in (*simple, step, 2 * step, *near) if node.fits(n)]
    return list(dict.fromkeys(numbers))[:2] or list(simple)
