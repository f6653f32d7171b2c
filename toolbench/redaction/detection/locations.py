"""`Location`: a place inside a value, with the schemas that tell whether a secret is at this place."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from toolbench.jsonschema.types import Schema
from toolbench.jsonschema.walk import (
    CASES,
    DEPENDENT,
    REFERENCES,
    TOGETHER,
    flat,
    mapping,
    sequence,
    types_of,
)
from toolbench.redaction.detection.names import (
    is_misspelt,
    is_secret_argument,
    is_secret_number,
    name_in_map,
)

_WRAPPERS = {*REFERENCES, *TOGETHER, *CASES, *DEPENDENT}
_OBJECTS = {
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
}
_NUMBERS = frozenset({"integer", "number"})
_REST = ("additionalItems", "unevaluatedItems")
_ARRAYS = {"items", "prefixItems", "contains", *_REST}
_HOLDERS = frozenset({*_OBJECTS, *_ARRAYS, "contentSchema"})


def is_secret(name: str, schema: Any) -> bool:
    """Tell whether the property *name* with *schema* holds a secret, by its name or by its schema.

    `format: password` and `writeOnly` mean a secret. Names such as `api_key` or `githubToken` mean
    a secret if the value is any text, not a choice from a list. Names such as `passcode` mean a
    secret if the value is a number.
    """
    if _says_so(schema) or (_may_be_text(schema) and is_secret_argument(name)):
        return True
    is_number = isinstance(schema, Mapping) and not _NUMBERS.isdisjoint(_types(schema))
    return is_number and is_secret_number(name)


class Locations:
    """The locations that one schema describes; each location is made when it is first needed."""

    def __init__(self, root: Any) -> None:
        """Prepare for *root*, the whole schema, in which references are followed."""
        self._root = root
        # By the ids of the schemas
        self._known: dict[tuple[int, ...], Location] = {}

    def of(self, schemas: Iterable[Any]) -> "Location":
        """Return the location that *schemas*, parts of the root schema, describe together."""
        parts = [schema for schema in schemas if isinstance(schema, Mapping)]
        key = tuple(map(id, parts))
        if key not in self._known:
            schemas = always = parts
            if not all(map(_WRAPPERS.isdisjoint, parts)):
                always = list(flat(self._root, parts))
                schemas = list(flat(self._root, parts, in_any_case=True))
            self._known[key] = Location(self, schemas, always)
        return self._known[key]


class Location:
    """A place inside a value, and all its schemas: if there is a union or a reference, it has several."""

    def __init__(self, locations: Locations, schemas: list[Schema], always: list[Schema]) -> None:
        """Make a location; *locations* makes the locations inside it.

        Args:
            locations: The locations of the whole schema.
            schemas: The schemas of this location and all their alternatives.
            always: The schemas that apply in every case. They decide if the value may be text.
        """
        # schemas that only refer to other schemas do not describe the value
        plain = [s for s in always if "type" in s or not s.keys() & _WRAPPERS]
        self._locations = locations
        self._schemas = schemas
        self._parts: dict[Any, Location] = {}
        self._says_so = any(map(_says_so, schemas))
        self._may_be_text = any(map(_may_be_text, plain or [{}]))
        self.types = frozenset(kind for schema in schemas for kind in _types(schema))
        """The JSON types that the value at this location may have."""

    @cached_property
    def choices(self) -> frozenset[str]:
        """The texts that the schemas list as a fixed choice; such a text is never a secret."""
        return frozenset(text for s in self._schemas for text in _choices(s))

    @cached_property
    def _declared(self) -> frozenset[str]:
        """The names of the properties that the schemas declare for this location."""
        return frozenset(k for s in self._schemas for k in mapping(s, "properties"))

    @cached_property
    def _first(self) -> int:
        """The number of the first items of a list at this location that have a schema each."""
        return max((len(_first_items(s)) for s in self._schemas), default=0)

    def is_secret(self, name: str) -> bool:
        """Tell whether the value at this location is a secret, if *name* is its name."""
        if self._says_so or (self._may_be_text and is_secret_argument(name)):
            return True
        return not self.types.isdisjoint(_NUMBERS) and is_secret_number(name)

    def name_of(self, key: str, above: str) -> str:
        """Return the name that decides whether the value of *key* at this location is a secret.

        *above* is the name of this location. If *key* is not declared and looks like a misspelt
        name of a declared secret, the result is `secret`.
        """
        if key in self._declared:
            return key
        if self._declared and is_misspelt(key, self._secrets):
            return "secret"
        return name_in_map(key, above)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """The declared names whose values are secrets."""
        names = sorted(self._declared)
        return tuple(name for name in names if self.of_key(name).is_secret(name))

    def of_key(self, key: Any) -> "Location":
        """Return the location of the value of *key*, in an object at this location."""
        known = key if key in self._declared else None
        if known not in self._parts:
            self._parts[known] = self._locations.of(_of_key(self._schemas, known))
        return self._parts[known]

    def of_item(self, index: int) -> "Location":
        """Return the location of the item at *index*, in a list at this location."""
        known = min(index, self._first)
        if known not in self._parts:
            self._parts[known] = self._locations.of(_of_item(self._schemas, known))
        return self._parts[known]

    @cached_property
    def content(self) -> "Location | None":
        """The location of the JSON inside a text at this location; None if no schema describes the JSON."""
        contents = [s["contentSchema"] for s in self._schemas if "contentSchema" in s]
        return self._locations.of(contents) if contents else None

    @cached_property
    def has_secrets(self) -> bool:
        """Whether a part of the value at this location, at any depth, is a secret."""
        return any(part.is_secret(name) for name, part in self.every_part())

    def every_part(self) -> Iterator[tuple[str, "Location"]]:
        """Yield the name and the location of each part of the value at this location, at any depth."""
        todo = [("", self)]
        visited = set(todo)
        while todo:
            above, location = todo.pop()
            for name, part in location._inside(above):
                if (name, part) not in visited:
                    visited.add((name, part))
                    todo.append((name, part))
                    yield name, part

    def defaults(self) -> Iterator[Any]:
        """Yield the defaults in the schemas of this location."""
        return (s["default"] for s in self._schemas if "default" in s)

    def harmless_names(self) -> Iterator[str]:
        """Yield each declared name whose value is never a secret if it is a text, a number or a bool."""
        if self._says_so or "object" not in self.types:
            return
        for name in self._declared:
            part = self.of_key(name)
            may_be = part.is_secret(name) or is_secret_argument(name)
            if not may_be and not part.has_secrets:
                yield name

    def _inside(self, above: str) -> Iterator[tuple[str, "Location"]]:
        """Yield the name and the location of each direct part; *above* is the name of this location."""
        for schema in self._schemas:
            if _HOLDERS.isdisjoint(schema):
                continue
            parts = list(mapping(schema, "properties").items())
            parts += [(above, part) for part in _of_any_key(schema)]
            parts += [(above, part) for part in _of_any_item(schema)]
            parts.append((above, schema.get("contentSchema")))
            for name, part in parts:
                if isinstance(part, Mapping):
                    yield name, self._locations.of([part])


def _says_so(schema: Any) -> bool:
    """Tell whether *schema* itself says that its value is a secret."""
    return isinstance(schema, Mapping) and (
        schema.get("format") == "password" or schema.get("writeOnly") is True
    )


def _may_be_text(schema: Any) -> bool:
    """Tell whether a value of *schema* may be any text: type string or no type, and no fixed choice."""
    if not isinstance(schema, Mapping):
        return True
    names = types_of(schema)
    is_open = "enum" not in schema and "const" not in schema
    return is_open and ("string" in names or "type" not in schema)


def _types(schema: Schema) -> Iterator[str]:
    if "type" in schema:
        yield from types_of(schema)
    elif schema.keys() & _OBJECTS:
        yield "object"
    elif schema.keys() & _ARRAYS:
        yield "array"
    elif "contentSchema" in schema:
        yield "string"


def _choices(schema: Schema) -> Iterator[str]:
    for choice in [*sequence(schema, "enum"), schema.get("const")]:
        if isinstance(choice, str):
            yield choice


def _of_undeclared_key(schema: Schema) -> Iterator[Any]:
    yield from mapping(schema, "patternProperties").values()
    yield schema.get("additionalProperties")


def _of_any_key(schema: Schema) -> Iterator[Any]:
    yield from _of_undeclared_key(schema)
    # not for a key that another of the schemas declares: that schema evaluates it
    yield schema.get("unevaluatedProperties")


def _of_key(schemas: Iterable[Schema], key: Any) -> Iterator[Any]:
    """Yield the schemas for the value of *key*; None stands for a key that no schema declares.

    The schemas of all patterns are yielded, so that no secret is missed.
    """
    for schema in schemas:
        declared = mapping(schema, "properties")
        if key in declared:
            yield declared[key]
        elif key is None:
            yield from _of_any_key(schema)
        else:
            yield from _of_undeclared_key(schema)


def _first_items(schema: Schema) -> list[Any]:
    """Return the schemas for the first items of a list, which old drafts of JSON Schema have in `items`."""
    return sequence(schema, "prefixItems") or sequence(schema, "items")


def _of_any_item(schema: Schema) -> Iterator[Any]:
    yield from _first_items(schema)
    yield from (schema.get(key) for key in ("items", "contains", *_REST))


def _of_item(schemas: Iterable[Schema], index: int) -> Iterator[Any]:
    """Yield the schemas for the item at *index*, and the schema of `contains`.

    An item after the first items has the schema of the other items. If *schemas* declare no schema
    for the other items, the schemas of all first items are yielded.
    """
    for schema in schemas:
        first = _first_items(schema)
        rest = [schema[key] for key in ("items", *_REST) if key in schema]
        rest = [part for part in rest if isinstance(part, Mapping)]
        if index < len(first):
            yield first[index]
        else:
            yield from rest or first
        yield schema.get("contains")
