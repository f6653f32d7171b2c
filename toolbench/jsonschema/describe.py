"""Describe in words the values that a schema accepts: type, limits, default and purpose."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from toolbench.jsonschema.enumeration import takes_nothing
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.words import limits, words
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
