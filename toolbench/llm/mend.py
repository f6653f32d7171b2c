"""Mend the values of a call where the schema leaves one reading only, and say so."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from toolbench.core.tool import ToolDefinition
from toolbench.core.validation import clip
from toolbench.errors import Path, Problem
from toolbench.llm.jsontext import NotJsonError, read_json
from toolbench.llm.schemas import target, types_of

CLASSES: Mapping[str, frozenset[type]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "array": frozenset({list}),
    "object": frozenset({dict}),
    "null": frozenset({type(None)}),
}
_NOUNS: Mapping[type, str] = {
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
    str: "a string",
}
_SCALAR = re.compile(
    r"-?(0|[1-9]\d{0,17})(\.\d{1,17})?([eE][+-]?\d{1,2})?|true|false|null"
)
_LONGEST = 1_000_000  # characters of JSON in a string


@dataclass(frozen=True)
class Repair(Problem):
    """One thing in a call that was mended: where, and a sentence that says what."""


@dataclass(eq=False)
class Shape:
    """What a schema says of a value, as far as mending needs it."""

    classes: frozenset[type] | None = None
    """The Python classes the value may have; None: any."""
    properties: dict[str, "Shape"] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: "Shape | None" = None
    """What the values of a map are."""
    places: list["Shape"] = field(default_factory=list)
    """What the first items of a list are, one by one."""
    items: "Shape | None" = None
    choices: list["Shape"] = field(default_factory=list)
    """The alternatives, `null` aside, where there are several."""


_shapes: WeakKeyDictionary[ToolDefinition[Any, Any], Shape] = WeakKeyDictionary()


def shape_of(tool: ToolDefinition[Any, Any]) -> Shape:
    """Return the shape of what *tool* accepts, worked out once."""
    shape = _shapes.get(tool)
    if shape is None:
        schema = tool.input_schema
        shape = _shapes[tool] = _Shapes(schema).of(schema)
    return shape


class _Shapes:
    """Reads a schema; a part that holds itself becomes a shape that holds itself."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, Shape] = {}

    def of(self, node: Any) -> Shape:
        if isinstance(node, Mapping) and "$ref" in node:
            node = target(self._root, node["$ref"])
        if not isinstance(node, Mapping):
            return Shape()
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = Shape()
            self._fill(known, node)
        return known

    def _fill(self, shape: Shape, node: Mapping[str, Any]) -> None:
        shape.classes = self._classes(node)
        branches = [b for b in _branches(node) if b.get("type") != "null"]
        if len(branches) == 1:
            node = branches[0]
            node = target(self._root, node["$ref"]) or {} if "$ref" in node else node
        elif branches:
            shape.choices = [self.of(branch) for branch in branches]
            return
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            shape.properties = {name: self.of(sub) for name, sub in properties.items()}
        shape.required = frozenset(node.get("required") or ())
        if isinstance(node.get("additionalProperties"), Mapping):
            shape.extra = self.of(node["additionalProperties"])
        shape.places = [self.of(place) for place in node.get("prefixItems") or ()]
        if isinstance(node.get("items"), Mapping):
            shape.items = self.of(node["items"])

    def _classes(self, node: Mapping[str, Any]) -> frozenset[type] | None:
        named = types_of(node)
        if named:
            return frozenset().union(*(CLASSES.get(t, _ALL) for t in named))
        values = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(values, list):
            return frozenset(type(value) for value in values)
        each = [self.of(branch).classes for branch in _branches(node)]
        known = [classes for classes in each if classes is not None]
        return frozenset().union(*known) if each and len(known) == len(each) else None


def _branches(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    branches = node.get("anyOf") or node.get("oneOf")
    if not isinstance(branches, list):
        return []
    return [b if isinstance(b, Mapping) else {} for b in branches]


_ALL: frozenset[type] = frozenset().union(*CLASSES.values())


class Mending:
    """One pass over the arguments of a call; `repairs` and `odd` say what it met."""

    def __init__(self) -> None:
        """Start with nothing found."""
        self.repairs: list[Repair] = []
        self.odd: list[tuple[Path, Any]] = []
        """Values of a class the schema does not name, left as they are."""

    def mended(self, value: Any, shape: Shape, path: Path = ()) -> Any:
        """Return *value*, itself if nothing in it had to change."""
        if shape.classes is not None and type(value) not in shape.classes:
            value = self._read(value, shape.classes, path)
        kind = type(value)
        if kind is not dict and kind is not list:
            return value
        if shape.choices:
            shape = _chosen(shape.choices, value) or shape
        if kind is list:
            return self._list(value, shape, path)
        return self._object(value, shape, path)

    def _object(
        self, value: dict[str, Any], shape: Shape, path: Path
    ) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        gone: list[str] = []
        for name, given in value.items():
            inner = shape.properties.get(name, shape.extra)
            if inner is None:
                continue
            if given is None and _is_unset(name, inner, shape):
                gone.append(name)
                self._say((*path, name), "null was left out: the argument is optional")
                continue
            new = self.mended(given, inner, (*path, name))
            if new is not given:
                changed[name] = new
        if not changed and not gone:
            return value
        return {k: v for k, v in {**value, **changed}.items() if k not in gone}

    def _list(self, value: list[Any], shape: Shape, path: Path) -> list[Any]:
        if shape.items is None and not shape.places:
            return value
        new = list(value)
        for i, item in enumerate(value):
            inner = shape.places[i] if i < len(shape.places) else shape.items
            if inner is not None:
                new[i] = self.mended(item, inner, (*path, i))
        return (
            new if any(a is not b for a, b in zip(new, value, strict=True)) else value
        )

    def _read(self, value: Any, classes: frozenset[type], path: Path) -> Any:
        if isinstance(value, float) and value.is_integer() and int in classes:
            return value  # 3.0 is an integer in JSON Schema
        if isinstance(value, str):
            found = _in_string(value)
            if type(found) in classes:
                self._say(path, f"{clip(value)} was read as {_NOUNS[type(found)]}")
                return found
        self.odd.append((path, value))
        return value

    def _say(self, path: Path, message: str) -> None:
        self.repairs.append(Repair(path, message))


def _is_unset(name: str, inner: Shape, shape: Shape) -> bool:
    nullable = inner.classes is None or type(None) in inner.classes
    return name in shape.properties and name not in shape.required and not nullable


def _chosen(choices: list[Shape], value: Any) -> Shape | None:
    """The one alternative *value* can be meant for, if it is only one."""
    fit = [
        shape
        for shape in choices
        if (shape.classes is None or type(value) in shape.classes)
        and (type(value) is not dict or shape.required <= value.keys())
    ]
    return fit[0] if len(fit) == 1 else None


_NOTHING = object()


def _in_string(text: str) -> Any:
    """The JSON value a string holds: `true`, `3`, a list, an object; else nothing."""
    bare = text.strip()
    plain = bare.lower() if bare in ("True", "False") else bare
    if not _SCALAR.fullmatch(plain) and not _is_json(bare):
        return _NOTHING
    try:
        return read_json(plain)[0]
    except NotJsonError:
        return _NOTHING


def _is_json(text: str) -> bool:
    ends = text[:1] + text[-1:]
    return ends in ("[]", "{}") and len(text) <= _LONGEST
