"""What a JSON Schema says of each place in a value: found once for each, when first asked for."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from toolbench.core.references import follow
from toolbench.core.telling import is_telling, may_be_text, says_so

_Schema = Mapping[str, Any]
_TOGETHER = ("allOf", "anyOf", "oneOf")
_WRAPPERS = {"$ref", *_TOGETHER}
_OBJECTS = {"properties", "patternProperties", "additionalProperties"}
_ARRAYS = {"items", "prefixItems"}


class Places:
    """The places that one schema describes."""

    def __init__(self, root: Any) -> None:
        """Follow references through *root*."""
        self._root = root
        self._known: dict[tuple[int, ...], Place] = {}  # by the ids of the schemas

    def of(self, schemas: Iterable[Any]) -> "Place":
        """Return the place that all *schemas*, parts of the root, describe together."""
        parts = [schema for schema in schemas if isinstance(schema, Mapping)]
        key = tuple(map(id, parts))
        if key not in self._known:
            self._known[key] = Place(self, list(flat(self._root, parts)))
        return self._known[key]


def flat(root: Any, schemas: Iterable[Any]) -> Iterator[_Schema]:
    """Give *schemas*, parts of *root*, what they refer to, and the parts they are put together from.

    Each is given once, before its parts; what is no schema is left out.
    """
    todo, seen = deque(schemas), set[int]()
    while todo:
        schema = todo.popleft()
        if isinstance(schema, Mapping) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            todo.extendleft(reversed(parts_of(root, schema)))


def parts_of(root: Any, schema: _Schema) -> list[Any]:
    """List what *schema*, a part of *root*, refers to and is put together from."""
    referred = [follow(root, schema["$ref"])] if "$ref" in schema else []
    return referred + [part for key in _TOGETHER for part in sequence(schema, key)]


class Place:
    """What the schemas of one place say together: a union, or a reference, has several."""

    def __init__(self, places: Places, flat: list[_Schema]) -> None:
        """Read the schemas *flat*, which hold no other alternatives than these."""
        # those that only lead to others do not say what they are
        plain = [s for s in flat if "type" in s or not s.keys() & _WRAPPERS]
        self._places = places
        self._flat = flat
        self._parts: dict[Any, Place] = {}
        self._says_so = any(map(says_so, flat))
        self._may_be_text = any(map(may_be_text, plain or [{}]))
        self.kinds = frozenset(kind for schema in flat for kind in _kinds(schema))
        """The JSON types it may have."""
        self._declared = {k for s in flat for k in mapping(s, "properties")}
        self._first = max(len(sequence(s, "prefixItems")) for s in [{}, *flat])

    def is_secret(self, name: str) -> bool:
        """Tell whether what stands here, under *name*, is a secret."""
        return self._says_so or (self._may_be_text and is_telling(name))

    def of_key(self, key: Any) -> "Place":
        """Return the place of the value of *key*."""
        known = key if key in self._declared else None
        if known not in self._parts:
            self._parts[known] = self._places.of(_of_key(self._flat, known))
        return self._parts[known]

    def of_item(self, index: int) -> "Place":
        """Return the place of the item at *index*."""
        known = min(index, self._first)
        if known not in self._parts:
            self._parts[known] = self._places.of(_of_item(self._flat, known))
        return self._parts[known]

    @cached_property
    def has_secrets(self) -> bool:
        """Whether a part of what stands here, at any depth, is a secret."""
        todo, seen = [self], {self}
        while todo:
            for name, part in todo.pop().inside():
                if part.is_secret(name):
                    return True
                if part not in seen:
                    seen.add(part)
                    todo.append(part)
        return False

    def inside(self) -> Iterator[tuple[str, "Place"]]:
        """Give all places in this one, with the names of those that have one."""
        for schema in self._flat:
            parts = list(mapping(schema, "properties").items())
            parts += [("", part) for part in _nameless(schema)]
            for name, part in parts:
                if isinstance(part, Mapping):
                    yield name, self._places.of([part])


def _kinds(schema: _Schema) -> Iterator[str]:
    said = schema.get("type")
    if said is not None:
        kinds = said if isinstance(said, list) else [said]
        yield from (kind for kind in kinds if isinstance(kind, str))
    elif schema.keys() & _OBJECTS:
        yield "object"
    elif schema.keys() & _ARRAYS:
        yield "array"


def _nameless(schema: _Schema) -> Iterator[Any]:
    yield from mapping(schema, "patternProperties").values()
    yield from sequence(schema, "prefixItems")
    yield schema.get("additionalProperties")
    yield schema.get("items")


def _of_key(schemas: Iterable[_Schema], key: Any) -> Iterator[Any]:
    """Give the schemas for the value of *key*; of patterns all, so that none is overlooked."""
    for schema in schemas:
        declared = mapping(schema, "properties")
        if key in declared:
            yield declared[key]
        else:
            yield from mapping(schema, "patternProperties").values()
            yield schema.get("additionalProperties")


def _of_item(schemas: Iterable[_Schema], index: int) -> Iterator[Any]:
    """Give the schemas for an item; one too many may be any of them, misplaced."""
    for schema in schemas:
        first = sequence(schema, "prefixItems")
        if index < len(first):
            yield first[index]
        elif "items" in schema:
            yield schema["items"]
        else:
            yield from first


def mapping(schema: _Schema, key: str) -> _Schema:
    """Return what *schema* says under *key*, or nothing if that is no object."""
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def sequence(schema: _Schema, key: str) -> list[Any]:
    """Return what *schema* says under *key*, or nothing if that is no list."""
    found = schema.get(key)
    return found if isinstance(found, list) else []
