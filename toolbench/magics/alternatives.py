"""What a JSON Schema says of the value at one place: its names, its choices, and whether it is text."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from toolbench.core.places import flat, mapping, parts_of, sequence

_SAYS = {"type", "properties", "items", "enum", "const"}


class Alternatives:
    """The schemas the value at one place may fit, each a mapping without a reference."""

    def __init__(self, root: Any, schemas: Iterable[Any]) -> None:
        """Hold *schemas*, parts of *root*; what is no schema is left out."""
        self._root = root
        self._schemas = [
            schema
            for schema in flat(root, schemas)
            if not parts_of(root, schema) or not _SAYS.isdisjoint(schema)
        ]

    @classmethod
    def of(cls, schema: Any) -> Self:
        """Return those of the whole value."""
        return cls(schema, [schema])

    def at(self, key: Any) -> "Alternatives":
        """Return those of the part *key*: a name, or the number of an item."""
        return Alternatives(self._root, [_part(s, key) for s in self._schemas])

    def below(self, path: Iterable[Any]) -> "Alternatives":
        """Return those at the end of *path*."""
        here = self
        for key in path:
            here = here.at(key)
        return here

    @property
    def names(self) -> list[str]:
        """The names an object may have here."""
        found = (mapping(s, "properties") for s in self._schemas)
        return list(dict.fromkeys(name for names in found for name in names))

    @property
    def choices(self) -> list[Any]:
        """The values that are named here, and those of a yes or no."""
        found = [v for s in self._schemas for v in _named(s)]
        if any(s.get("type") == "boolean" for s in self._schemas):
            found += [True, False]
        return found

    @property
    def are_text(self) -> bool:
        """Whether each of them is a string, or null beside one."""
        kinds = {kind for s in self._schemas for kind in _kinds(s)}
        return "string" in kinds and kinds <= {"string", "null"}

    @property
    def take_null(self) -> bool:
        """Whether one of them is null."""
        return any("null" in _kinds(s) for s in self._schemas)


def _part(schema: Mapping[str, Any], key: Any) -> Any:
    if isinstance(key, str):
        found = mapping(schema, "properties").get(key)
        return schema.get("additionalProperties") if found is None else found
    first = sequence(schema, "prefixItems")
    return first[key] if key < len(first) else schema.get("items")


def _named(schema: Mapping[str, Any]) -> list[Any]:
    const = [schema["const"]] if "const" in schema else []
    return [*sequence(schema, "enum"), *const]


def _kinds(schema: Mapping[str, Any]) -> list[Any]:
    kind = schema.get("type")
    if kind is None and (named := _named(schema)):
        return ["string" if isinstance(value, str) else "other" for value in named]
    return kind if isinstance(kind, list) else [kind]
