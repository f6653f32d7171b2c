"""Repair the values of a call if the schema allows only one meaning, and list the repairs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbench.errors import Path, Problem
from toolbench.jsonschema.node import Node
from toolbench.llm.calls.json_text import NotJsonError, read_json
from toolbench.values import clip

_NOUNS: Mapping[type, str] = {
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
    str: "a string",
}
_SCALAR = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,17})?([eE][+-]?\d{1,2})?|true|false|null")
# Characters of JSON in a string
_LONGEST = 1_000_000


@dataclass(frozen=True)
class Repair(Problem):
    """One repair of a call: the path of the value, and a sentence about the repair."""


class Mending:
    """Repairs the arguments of one call, and lists the repairs in `repairs`."""

    def __init__(self) -> None:
        """Make the lists of repairs and of odd values, which are empty."""
        self.repairs: list[Repair] = []
        self.odd: list[tuple[Path, Any]] = []
        """Unchanged values whose type the schema does not allow."""

    def mended(self, value: Any, node: Node, path: Path = ()) -> Any:
        """Return *value* with all repairs made; the same object if it needs no repair.

        *node* is the schema of the value, and *path* is the place of the value in the arguments.
        """
        if node.classes is not None and type(value) not in node.classes:
            value = self._read(value, node.classes, path)
        kind = type(value)
        if kind is not dict and kind is not list:
            return value
        if node.branches:
            node = _chosen(node.alternatives, value) or node
        if kind is list:
            return self._list(value, node, path)
        return self._object(value, node, path)

    def _object(self, value: dict[str, Any], node: Node, path: Path) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        unset: list[str] = []
        properties, additional = node.properties, node.additional
        for name, old in value.items():
            inner = properties.get(name, additional)
            if inner is None:
                continue
            if old is None and name in properties and _is_unset(name, inner, node):
                unset.append(name)
                self._say((*path, name), "null was left out: the argument is optional")
                continue
            new = self.mended(old, inner, (*path, name))
            if new is not old:
                changed[name] = new
        if not changed and not unset:
            return value
        mended = {**value, **changed}
        for name in unset:
            del mended[name]
        return mended

    def _list(self, value: list[Any], node: Node, path: Path) -> list[Any]:
        first, items = node.prefix_items, node.items
        if items is None and not first:
            return value
        new = list(value)
        is_changed = False
        for i, item in enumerate(value):
            inner = items
            if i < len(first):
                inner = first[i]
            if inner is not None:
                new[i] = self.mended(item, inner, (*path, i))
                is_changed = is_changed or new[i] is not item
        if is_changed:
            return new
        return value

    def _read(self, value: Any, classes: frozenset[type], path: Path) -> Any:
        if isinstance(value, float) and value.is_integer() and int in classes:
            # 3.0 is an integer in JSON Schema
            return value
        if isinstance(value, str):
            in_text = _in_string(value)
            if type(in_text) in classes:
                self._say(path, f"{clip(value)} was read as {_NOUNS[type(in_text)]}")
                return in_text
        self.odd.append((path, value))
        return value

    def _say(self, path: Path, message: str) -> None:
        self.repairs.append(Repair(path, message))


def _is_unset(name: str, inner: Node, node: Node) -> bool:
    """Return whether null for the property *name* can only mean "left out"."""
    takes_null = inner.classes is None or type(None) in inner.classes
    return name not in node.required and not takes_null


def _chosen(alternatives: Sequence[Node], value: Any) -> Node | None:
    """Return the alternative for *value*; None if none or several are possible."""
    fit: list[Node] = []
    for node in alternatives:
        is_class = node.classes is None or type(value) in node.classes
        has_names = type(value) is not dict or all(name in value for name in node.required)
        if is_class and has_names:
            fit.append(node)
    if len(fit) == 1:
        return fit[0]
    return None


_NOTHING = object()


def _in_string(text: str) -> Any:
    """Return the JSON value in a string (`true`, `3`, a list, an object), or `_NOTHING`."""
    bare = text.strip()
    plain = bare
    if bare in ("True", "False"):
        plain = bare.lower()
    if not _SCALAR.fullmatch(plain) and not _is_json(bare):
        return _NOTHING
    try:
        return read_json(plain)[0]
    except NotJsonError:
        return _NOTHING


def _is_json(text: str) -> bool:
    ends = text[:1] + text[-1:]
    return ends in ("[]", "{}") and len(text) <= _LONGEST
