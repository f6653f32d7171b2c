"""Write a JSON Schema as pydantic classes, for type checkers and editors."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from toolbench.core.foreign import safe_attribute
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.types import type_of
from toolbench.wording import words_of

_SIMPLE = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
_LIMITS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
}
_OF_TYPE = {
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "array": ("minItems", "maxItems"),
}
# A field must not have such a name: below the field, the name would no longer mean the type.
_TYPES = frozenset({*_SIMPLE.values(), "Annotated", "Any", "Field", "Literal", "dict", "list"})
# A schema can refer to itself in very many ways, so two limits end the writing of classes.
# Levels; below, the type is `Any`
_DEEPEST = 8
# Of one schema; further objects are dicts
_MOST_CLASSES = 60
_MOST_CHOICES = 200


class ModelClasses:
    """Writes the pydantic classes of one module. Each class has its own name."""

    def __init__(self, names_in_use: set[str]) -> None:
        """Write no classes yet; no class will get a name in *names_in_use*."""
        self._names_in_use = names_in_use
        self._texts: list[str] = []
        self._classes: dict[tuple[int, str], str] = {}
        self._left = 0

    @property
    def text(self) -> str:
        """The text of all classes."""
        return "\n\n\n".join(self._texts)

    def add(self, name: str, schema: Mapping[str, Any], about: str) -> str:
        """Add a class for the objects that *schema* accepts; return its name.

        Args:
            name: The preferred name of the class.
            schema: The JSON Schema of an object.
            about: The docstring of the class.
        """
        node = read(schema)
        self._left = _MOST_CLASSES
        return self._class_of(node, name, about, depth=0)

    def _class_of(self, node: Node, name: str, about: str, *, depth: int) -> str:
        self._left -= 1
        name = unique(class_name(name), self._names_in_use)
        key = (id(node.view), node.definition)
        if node.definition:
            self._classes[key] = name
        lines = list(self._fields(node, name, depth))
        extra = "forbid" if node.is_closed else "allow"
        config = f'    model_config = ConfigDict(extra="{extra}")\n'
        text = f"class {name}(BaseModel):\n    {docstring(about)}\n"
        self._texts.append(f"{text}\n{config}{''.join(lines)}".rstrip())
        return name

    def _fields(self, node: Node, owner: str, depth: int) -> Iterator[str]:
        classes = {name for name in self._names_in_use if name[:1].isupper()}
        names = {*dir(BaseModel), *_TYPES, *classes, "model_config"}
        for key, part in node.properties.items():
            attribute = safe_attribute(key, names)
            names.add(attribute)
            hint = self._hint(part, f"{owner} {key}", depth + 1)
            options = dict[str, Any]()
            if key not in node.required:
                hint = (
                    hint
                    if hint in ("Any", "None") or "None" in hint.split(" | ")
                    else f"{hint} | None"
                )
                options["default"] = None
            if attribute != key:
                options["alias"] = key
            if part.description:
                options["description"] = part.description
            written = ", ".join(f"{name}={value!r}" for name, value in options.items())
            if set(options) == {"default"}:
                yield f"    {attribute}: {hint} = None\n"
            else:
                yield f"    {attribute}: {hint}" + (f" = Field({written})\n" if written else "\n")

    def _hint(self, node: Node, place: str, depth: int) -> str:
        if depth > _DEEPEST:
            return "Any"
        hints = [self._own_hint(one, place, depth) for one in node.alternatives or (node,)]
        if node.takes_null:
            hints.append("None")
        return "Any" if "Any" in hints else " | ".join(dict.fromkeys(hints))

    def _own_hint(self, node: Node, place: str, depth: int) -> str:
        if node.values and len(node.values) <= _MOST_CHOICES:
            return _literal(node.values)
        match node.type:
            case "array":
                items = (
                    "Any"
                    if node.items is None
                    else self._hint(node.items, f"{place} item", depth + 1)
                )
                return _limited(f"list[{items}]", node)
            case "object":
                return self._object_hint(node, place, depth)
            case str() as kind:
                return _limited(_SIMPLE.get(kind, "Any"), node)
        return "Any"

    def _object_hint(self, node: Node, place: str, depth: int) -> str:
        known = self._classes.get((id(node.view), node.definition)) if node.definition else None
        if known is not None:
            return known
        if node.properties and self._left > 0:
            return self._class_of(node, node.definition or place, node.description, depth=depth)
        values = node.additional
        hint = (
            "Any"
            if values is None or node.properties
            else self._hint(values, f"{place} value", depth + 1)
        )
        return f"dict[str, {hint}]"


def _literal(values: list[Any]) -> str:
    """Return the type for *values* as text: a `Literal`, or the types of *values*.

    The types are used if `Literal` cannot hold one of the values.
    """
    if all(isinstance(value, str | bool | int) or value is None for value in values):
        return f"Literal[{', '.join(map(repr, values))}]"
    kinds = {_SIMPLE.get(type_of(value) or "", "Any") for value in values}
    return "Any" if "Any" in kinds else " | ".join(sorted(kinds))


def _limited(hint: str, node: Node) -> str:
    """Return *hint* with the limits of *node*, for example `Annotated[int, Field(ge=1)]`."""
    limits = {
        _LIMITS[keyword]: node.schema[keyword]
        for keyword in _OF_TYPE.get(node.type or "", ())
        if type(node.schema.get(keyword)) in (int, float)
    }
    if not limits:
        return hint
    written = ", ".join(f"{name}={value!r}" for name, value in limits.items())
    return f"Annotated[{hint}, Field({written})]"


def class_name(words: str) -> str:
    """Return the name of a class, made from *words*."""
    letters = "".join(c if c.isascii() and c.isalnum() else " " for c in words)
    name = "".join(w[:1].upper() + w[1:] for part in letters.split() for w in [part])
    return name if name[:1].isalpha() else f"Model{name}"


def function_name(name: str, names_in_use: set[str]) -> str:
    """Return a function name for the tool called *name*; it is not in *names_in_use*."""
    plain = "_".join(words_of(name)) or "tool"
    return unique(safe_attribute(plain, names_in_use), names_in_use)


def unique(name: str, names_in_use: set[str]) -> str:
    """Return *name*, with a number if it is in *names_in_use*, and add it to *names_in_use*."""
    free, number = name, 2
    while free in names_in_use:
        free, number = f"{name}{number}", number + 1
    names_in_use.add(free)
    return free


def docstring(text: str) -> str:
    """Return *text*, which is not trusted, as a docstring; nothing in it can end the docstring."""
    plain = " ".join(text.split()) if len(text) < 80 else text.strip()
    return repr(plain or "No description.")
