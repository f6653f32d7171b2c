"""Describe in words, and by examples, the values that a schema accepts."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from toolbench.jsonschema.node import Node, takes_nothing
from toolbench.jsonschema.words import FORMAT_EXAMPLES, TEXTS, limits, words
from toolbench.values import clip

# Levels of lists and objects to describe
_NESTING = 3
# Values, types or keys to list
_MOST_VALUES = 20
# Characters of each
_WORD = 100

# --- words --------------------------------------------------------------------------


def about(node: Node) -> str:
    """Return the full description of *node*: the type, limits, default and purpose of the value."""
    text = kind(node)
    details = "; ".join(facts(node))
    if details:
        text = f"{text} ({details})"
    if node.explanation:
        text = f"{text}. {node.explanation}"
    return text


def kind(node: Node) -> str:
    """Return the type of *node* in words, as in `array of string` or `object of name, age`."""
    text = _kind(node, _NESTING)
    # A default of `null` means unset in Python
    if node.nullable and node.schema.get("default", ...) is not None:
        text = f"{text} or null"
    return text


def facts(node: Node) -> list[str]:
    """List the limits, the format and the default of *node*, each as a phrase.

    If *node* describes a list, the limits of its items are one phrase, such as `each: at least 1`.
    """
    phrases = limits(node.schema)
    if node.format:
        phrases.append(words("format", node.format))
    if each := _of_each_item(node, _NESTING):
        phrases.append(f"each: {', '.join(each)}")
    if node.schema.get("default") is not None:
        phrases.append(words("default", node.schema["default"]))
    return list(map(word, phrases))


def _of_each_item(node: Node, fuel: int) -> list[str]:
    """List the limits of the items of *node*, and of the items inside them."""
    if node.items is None or not fuel:
        return []
    phrases = limits(node.items.schema)
    if inner := _of_each_item(node.items, fuel - 1):
        phrases.append(f"each of these: {', '.join(inner)}")
    return phrases


def word(value: Any) -> str:
    """Return *value* as text for a sentence.

    A string is returned without quotes, unless it is blank. All other values are returned as JSON.
    Long values are shortened.
    """
    if not isinstance(value, str) or not value.strip():
        return clip(value, _WORD)
    if len(value) > _WORD:
        return f"{value[: _WORD - 1]}…"
    return value


def _kind(node: Node, fuel: int) -> str:
    if takes_nothing(node):
        return "no value"
    if len(node.values) == 1:
        return f"only {word(node.values[0])}"
    if node.values:
        return f"one of {_list_of(node.values)}"
    if node.branches:
        return " or ".join(dict.fromkeys(_parts(node.alternatives, fuel)))
    if node.type == "array" and fuel:
        if node.prefix_items:
            return f"array of ({', '.join(_parts(node.prefix_items, fuel - 1))})"
        if node.items is not None and (node.items.types or node.items.values):
            [item] = _parts([node.items], fuel - 1)
            return f"array of {item}"
    if node.type == "object" and node.properties:
        return f"object of {_list_of(node.properties)}"
    return " or ".join(node.types) or "anything"


def _parts(nodes: Iterable[Node], fuel: int) -> list[str]:
    """Describe each of *nodes* in words. They are the alternatives or items of another node."""
    texts = []
    for node in islice(nodes, _MOST_VALUES):
        text = _kind(node, fuel)
        if node.format and not node.values:
            text = f"{text} of format {word(node.format)}"
        texts.append(text)
    return texts


def _list_of(values: Iterable[Any]) -> str:
    texts = list(map(word, values))
    text = ", ".join(texts[:_MOST_VALUES])
    more = len(texts) - _MOST_VALUES
    if more > 0:
        text = f"{text}, … ({more} more)"
    return text


# --- examples -----------------------------------------------------------------------


def example_values(node: Node, depth: int = _NESTING) -> list[Any]:
    """Return one or two example values for *node*. A pattern of strings is not considered."""
    known = [value for value in (*node.values, *node.examples) if value is not None]
    if known:
        return known[:2]
    if node.branches:
        for branch in node.alternatives:
            if branch.type != "null":
                return example_values(branch, depth)
    match node.type:
        case "integer" | "number":
            return _numbers(node)
        case "boolean":
            return [True, False]
        case "array":
            return [_list(node, depth - 1)]
        case "object":
            names: Iterable[str] = node.required or node.names[:1]
            if depth <= 1:
                names = ()
            return [{name: example_values(node.at(name), depth - 1)[0] for name in names}]
    return list(FORMAT_EXAMPLES.get(node.format, TEXTS))


def _list(node: Node, depth: int) -> list[Any]:
    if depth <= 0:
        return []
    if node.prefix_items:
        return [example_values(item, depth)[0] for item in node.prefix_items]
    if node.items is None:
        return list(TEXTS)
    return example_values(node.items, depth)


def _numbers(node: Node) -> list[Any]:
    """Return two numbers within the limits of *node*, or simple numbers if none are found."""
    step = node.limit("multipleOf") or 1
    simple: list[float] = [1, 2] if node.type == "integer" else [1.5, 2]
    numbers = [*simple, step, 2 * step]
    for keyword in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
        end = node.limit(keyword)
        if end is not None:
            numbers += [end, end + step, end + 2 * step, end - step, end - 2 * step]
    return list(dict.fromkeys(filter(node.fits, numbers)))[:2] or simple
