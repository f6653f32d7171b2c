"""A schema in words: what a value may be, its limits, its default, what it is for."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from toolbench.jsonschema.enumeration import takes_nothing
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.words import limits, words
from toolbench.plain import clip

_NESTING = 3  # a list of lists of lists of lists says no more than that
_MAX_VALUES = 20  # values, kinds or keys that are listed
_WORD = 100  # characters of each


def about(node: Node) -> str:
    """Return all there is to say: what it may be, its limits and default, what it is for."""
    details = "; ".join(facts(node))
    head = f"{kind(node)} ({details})" if details else kind(node)
    return ". ".join(filter(None, (head, node.explanation)))


def kind(node: Node) -> str:
    """Return what a value may be: of a list, what its items are; of an object, its keys."""
    text = _kind(node, _NESTING)
    unset = node.schema.get("default", ...) is None  # `null` is how Python says unset
    return f"{text} or null" if node.nullable and not unset else text


def facts(node: Node) -> list[str]:
    """List the limits, the format and the default."""
    limit_facts = limits(node.schema)
    if node.format:
        limit_facts.append(words("format", node.format))
    if node.schema.get("default") is not None:
        limit_facts.append(words("default", node.schema["default"]))
    return [word(fact) for fact in limit_facts]


def word(value: Any) -> str:
    """Return one value as it stands in a sentence: text as it is, the rest as JSON."""
    if not isinstance(value, str):
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
        return " or ".join(dict.fromkeys(_kind(branch, fuel) for branch in some))
    if node.type == "array" and fuel:
        return _array(node, fuel - 1)
    if node.type == "object" and node.properties:
        return f"object of {_list_of(node.properties)}"
    return " or ".join(node.types) or "anything"


def _array(node: Node, fuel: int) -> str:
    if node.prefix_items:
        some = islice(node.prefix_items, _MAX_VALUES)
        return f"array of ({', '.join(_kind(item, fuel) for item in some)})"
    if node.items is None or not (node.items.types or node.items.values):
        return "array"
    return f"array of {_kind(node.items, fuel)}"


def _list_of(values: Iterable[Any]) -> str:
    texts = [word(value) for value in values]
    more = len(texts) - _MAX_VALUES
    text = ", ".join(texts[:_MAX_VALUES])
    return f"{text}, … ({more} more)" if more > 0 else text
