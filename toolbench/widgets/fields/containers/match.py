"""Guess quickly which alternative of a union a value fits, without a full validation."""

from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.jsonschema.types import TYPES, types_of_value
from toolbench.values import same_json

_DEPTH = 4
_SAMPLE = 20


def admits(node: Node, value: Any) -> bool:
    """Tell whether *value* roughly fits *node*. Only types, constants and keys are compared."""
    return _Matcher().admits(node, value, _DEPTH)


class _Matcher:
    """Compares parts of a schema with parts of a value.

    It remembers the result for each pair of a schema part and a value part.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Node, int], bool] = {}

    def admits(self, node: Node, value: Any, depth: int) -> bool:
        pair = (node, id(value))
        if pair not in self._known:
            fits = value is None and node.nullable
            self._known[pair] = fits or self._has_shape(node, value, depth)
        return self._known[pair]

    def _has_shape(self, node: Node, value: Any, depth: int) -> bool:
        if node.values:
            return any(same_json(choice, value) for choice in node.values)
        if depth == 0:
            return True
        if node.branches:
            return any(self.admits(part, value, depth - 1) for part in node.branches)
        if not has_type(node, value):
            return False
        if isinstance(value, dict):
            return self._has_keys(node, value, depth)
        items = node.items
        if isinstance(value, list) and items is not None:
            return all(self.admits(items, x, depth - 1) for x in value[:_SAMPLE])
        return True

    def _has_keys(self, node: Node, value: dict[str, Any], depth: int) -> bool:
        if any(name not in value for name in node.required):
            return False
        if node.is_closed and value.keys() - node.properties.keys():
            return False
        return all(
            self.admits(part, value[name], depth - 1)
            for name, part in node.properties.items()
            if name in value
        )


def has_type(node: Node, value: Any) -> bool:
    """Tell whether *value* has the type of *node*; True if *node* has no single type."""
    return node.type not in TYPES or node.type in types_of_value(value)


def constants_agree(node: Node, value: Any) -> bool:
    """Tell whether *value* is an object whose properties have the constants that *node* allows.

    Only properties for which *node* lists the values are compared. If *value* has no
    such property, return False.
    """
    if not isinstance(value, dict):
        return False
    verdicts = [
        admits(part, value[name])
        for name, part in node.properties.items()
        if name in value and part.values
    ]
    return bool(verdicts) and all(verdicts)
