"""How large a schema is once its references are followed, and how much work a value then makes.

A schema of 2 kB can say "34 times twice the next one", and a validator that holds the
interpreter's lock for hours cannot be interrupted. So this is counted before anything is checked.
"""

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any, NoReturn
from urllib.parse import unquote

from toolbench.errors import SchemaError
from toolbench.jsonschema.refs import MISSING, follow, objects_in
from toolbench.jsonschema.types import Schema
from toolbench.jsonschema.walk import CASES, DEPENDENT, REFERENCES, TOGETHER, mapping, sequence

MOST_BYTES = 500_000
"""The most bytes of a schema as JSON. The largest of 2,132 public tools has 44,000."""
MOST_SCHEMAS = 20_000
"""The most schemas inside a schema, each reference followed. The largest of the public tools has 2,500."""
MOST_FOR_ONE_VALUE = 1_000
"""The most schemas for one and the same value, such as alternatives. The most in a public tool is 50."""
DEEPEST = 200
"""The most schemas inside of each other, each reference followed, and the most levels of a value."""

# Schemas that are applied to a value, and parts of a value to look at
_MOST_CHECKS = 50_000_000
_MOST_PARTS = 1_000_000
# Errors that a wrong value may have, each of about 3 kB
_MOST_ERRORS = 20_000
_ERROR = 3_000
# A union keeps the errors of its branches, so that a deep error is copied many times
_COPIED_LEVELS = 50
# Objects that a search for an anchor passes in the time in which one schema is read
_PASSED = 20
# `unevaluatedProperties` evaluates the schemas for the same value once more, and marks what fits
_AGAIN = 3
# Bytes of a property, and of an item, in an error
_PROPERTY = 250
_ITEM = 40
_QUOTED = ("enum", "const", "pattern", "not")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_ADDRESSES = ("$id", "id")
_ANCHORS = ("$anchor", "$dynamicAnchor")
# Exact classes: a check by `Mapping` takes longer than that of a small value
_HOLDERS = (dict, list, tuple)
_REPEATING = frozenset((*REFERENCES, *_UNEVALUATED))
_SPECIAL = frozenset((*_ADDRESSES, *_ANCHORS, *_REPEATING))

_Applied = dict[int, tuple[Schema, int, int]]
"""Schemas for the same value, by id: each with how often it is applied, and how deep it stands."""


class Extent:
    """The extent of one schema, measured when it is made.

    Attributes:
        schemas: How many schemas are inside, each reference followed; a circle counts once.
        is_circular: Whether a schema also describes a part of the value that it describes.
    """

    def __init__(self, root: Any, entry: Any) -> None:
        """Measure *entry*, a part of *root*, or *root* itself.

        Raises:
            SchemaError: If it is so large that checking a value would take too long.
        """
        self._root, self._entry = root, entry
        self._objects = list(objects_in(root))
        # By what a reference may say: an anchor, or the last step of an address
        self._anchors: dict[str, list[Any]] = {}
        self._resources: dict[str, list[Any]] = {}
        self._targets: dict[str, list[Any]] = {}
        self._applied: dict[int, _Applied] = {}
        self._quoted: dict[int, int] = {}
        self.schemas = self._searched()
        self.is_circular = False
        if self._repeats or len(self._objects) > MOST_FOR_ONE_VALUE:
            self._measure()
        else:
            # Most are so: what stands there once is read once
            self.schemas += len(self._objects)
        self._most_parts = _MOST_CHECKS // max(self.schemas, 1)

    def is_too_much(self, value: Any) -> bool:
        """Tell whether checking *value* would take longer than a few seconds."""
        if not isinstance(value, _HOLDERS):
            return False
        if not self.is_circular and not _has_more_parts(value, self._most_parts):
            return False
        return self._work(value, _MOST_CHECKS) > _MOST_CHECKS

    def has_too_many_errors(self, value: Any) -> bool:
        """Tell whether the errors would take too much memory if each part of *value* were wrong."""
        return self._work(value, _MOST_ERRORS, _sizes(value)) > _MOST_ERRORS

    # --- the schemas inside a schema ------------------------------------------------

    def _for_same_value(self, schema: Schema) -> list[Any]:
        """List the schemas that *schema* applies to the value that it describes itself."""
        parts = [part for key in TOGETHER for part in sequence(schema, key)]
        parts += [schema[key] for key in (*CASES, "not") if key in schema]
        parts += [part for key in DEPENDENT for part in mapping(schema, key).values()]
        for key in REFERENCES:
            if isinstance(reference := schema.get(key), str):
                name = f"{key} {reference}"
                if name not in self._targets:
                    self._targets[name] = self._targets_of(key, reference)
                parts += self._targets[name]
        if not schema.keys().isdisjoint(_UNEVALUATED):
            parts *= _AGAIN
        return parts

    def _targets_of(self, keyword: str, reference: str) -> list[Any]:
        """List all parts that *reference* may mean: which one, depends on where it stands."""
        address, _, fragment = reference.partition("#")
        if keyword == "$recursiveRef":
            others = (part for part in self._objects if part.get("$recursiveAnchor") is True)
            return [self._root, *others]
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(unquote(fragment), [])
        resources = self._resources.get(_last_step(address)) if address else None
        if resources is None:
            resources = [part for parts in self._resources.values() for part in parts]
        found = (follow(part, f"#{fragment}") for part in (self._root, *resources))
        return [part for part in found if part is not MISSING]

    def _searched(self) -> int:
        """Note all names, and return how many schemas could be read while they are searched for.

        Raises:
            SchemaError: If it takes too long.
        """
        references = []
        self._repeats = False
        for part in self._objects:
            keys = part.keys()
            if keys.isdisjoint(_SPECIAL):
                continue
            self._repeats |= not keys.isdisjoint(_REPEATING)
            for key in _ANCHORS:
                if isinstance(name := part.get(key), str):
                    self._anchors.setdefault(name, []).append(part)
            for key in _ADDRESSES:
                if isinstance(name := part.get(key), str):
                    address, _, anchor = name.partition("#")
                    if anchor:
                        self._anchors.setdefault(anchor, []).append(part)
                    if address and part is not self._root:
                        self._resources.setdefault(_last_step(address), []).append(part)
            references += [part[key] for key in REFERENCES if isinstance(part.get(key), str)]
        named = sum(1 for name in references if not name.startswith("#/") and name != "#")
        resources = sum(map(len, self._resources.values()))
        passed = named * len(self._objects) + len(references) * resources
        searched = passed // _PASSED
        if searched > MOST_SCHEMAS:
            _refuse("has too many references to names")
        return searched

    # --- how many there are ---------------------------------------------------------

    def _measure(self) -> None:
        """Walk through all schemas, as if each reference were replaced by its target.

        A schema that leads back to one around it ends there. Of a schema in a circle, the schemas
        for parts of the value are walked through once.
        """
        in_circles = self._in_circles()
        self.is_circular = bool(in_circles)
        walked: set[int] = set()
        around: list[int] = []
        is_around: set[int] = set()
        # Each with the number of schemas for the same value, in a list that they share
        todo = [iter([(self._entry, [0])])]
        while todo:
            found = next(todo[-1], None)
            if found is None:
                todo.pop()
                if around:
                    is_around.discard(around.pop())
                continue
            schema, of_value = found
            own = id(schema)
            if not isinstance(schema, Mapping) or own in is_around:
                continue
            self.schemas += 1
            if self.schemas > MOST_SCHEMAS:
                _refuse(f"has more than {MOST_SCHEMAS:,} schemas inside")
            of_value[0] += 1
            if of_value[0] > MOST_FOR_ONE_VALUE:
                _refuse(f"has more than {MOST_FOR_ONE_VALUE:,} schemas for the same value")
            if len(around) >= DEEPEST:
                _refuse(f"has schemas nested more than {DEEPEST} levels deep")
            around.append(own)
            is_around.add(own)
            inside = [(part, of_value) for part in self._for_same_value(schema)]
            if own not in walked:
                inside += [(part, [0]) for part in _for_parts(schema)]
            if own in in_circles:
                walked.add(own)
            todo.append(iter(inside))

    def _in_circles(self) -> set[int]:
        """Return the ids of the schemas that also describe a part of the value they describe.

        They are in the strongly connected components (Kosaraju's algorithm) with such a step.
        """
        order: list[int] = []
        before: dict[int, list[int]] = {id(self._entry): []}
        parts: dict[int, list[int]] = {}
        todo: list[tuple[Any, bool]] = [(self._entry, False)]
        opened: set[int] = set()
        while todo:
            schema, is_done = todo.pop()
            own = id(schema)
            if is_done:
                order.append(own)
            elif own not in opened and isinstance(schema, Mapping):
                opened.add(own)
                todo.append((schema, True))
                inside = _for_parts(schema)
                parts[own] = [id(part) for part in inside]
                for part in self._for_same_value(schema) + inside:
                    before.setdefault(id(part), []).append(own)
                    todo.append((part, False))
        component: dict[int, int] = {}
        for first in reversed(order):
            waiting = [first]
            while waiting:
                own = waiting.pop()
                if own in opened and own not in component:
                    component[own] = first
                    waiting += before.get(own, ())
        circles = {
            component[own]
            for own, inside in parts.items()
            if any(component.get(part) == component[own] for part in inside)
        }
        return {own for own, first in component.items() if first in circles}

    # --- how much work a value makes ------------------------------------------------

    def _work(self, value: Any, most: int, sizes: Mapping[int, int] | None = None) -> int:
        """Count the schemas that are applied to *value* and to its parts; stop behind *most*.

        With *sizes*, the bytes of each part by its id, count the errors of about 3 kB that there
        are if each schema refuses its part: an error quotes the part, and what the schema says.
        """
        start: _Applied = {id(self._entry): (self._entry, 1, 0)}
        todo = [(value, 0, start)]
        work = looked_at = 0
        while todo and work <= most:
            part, level, schemas = todo.pop()
            if level > DEEPEST or looked_at > _MOST_PARTS:
                return most + 1
            applied = [
                (one, times * again, depth + deeper)
                for schema, times, depth in schemas.values()
                for one, again, deeper in self._applied_with(schema).values()
            ]
            looked_at += len(applied)
            for schema, times, depth in applied:
                each = 1
                if sizes is not None:
                    quoted = sizes.get(id(part), 0) + self._quoted_of(schema)
                    each += quoted // _ERROR + depth // _COPIED_LEVELS
                    refusals = sum(one is False for one in self._for_same_value(schema))
                    each *= 1 + refusals + _missing(schema, part)
                work += times * each
            holders = [found for found in applied if not _OF_PARTS.isdisjoint(found[0])]
            if holders and work <= most and isinstance(part, Mapping | list | tuple):
                looked_at += len(part) * len(holders)
                todo += [(inner, level + 1, below) for inner, below in _below(part, holders)]
        return work

    def _applied_with(self, schema: Any) -> _Applied:
        """Return *schema* and all schemas that it applies to the same value."""
        known = self._applied.get(id(schema))
        if known is None:
            known = self._applied[id(schema)] = {}
            todo = [(schema, frozenset[int]())]
            while todo:
                one, around = todo.pop()
                if isinstance(one, Mapping) and id(one) not in around:
                    _, times, depth = known.get(id(one), (one, 0, 0))
                    known[id(one)] = (one, times + 1, max(depth, len(around) + 1))
                    inside = around | {id(one)}
                    todo += [(part, inside) for part in self._for_same_value(one)]
        return known

    def _quoted_of(self, schema: Schema) -> int:
        """Return the bytes of what *schema* itself allows or forbids, which its errors quote."""
        own = id(schema)
        if own not in self._quoted:
            quoted = [schema[key] for key in _QUOTED if key in schema]
            self._quoted[own] = _sizes(quoted)[id(quoted)]
        return self._quoted[own]


def check_extent(schema: Any) -> None:
    """Check that *schema*, which came as JSON, is not too large to be read.

    Raises:
        SchemaError: If it is.
    """
    check_length(dumps(schema))
    Extent(schema, schema)


def check_length(text: str) -> None:
    """Check that *text*, a schema as JSON, is not too long to be read.

    Raises:
        SchemaError: If it is.
    """
    if len(text) > MOST_BYTES:
        msg = f"The schema has {len(text):,} bytes; more than {MOST_BYTES:,} are not read."
        raise SchemaError(msg)


def _refuse(what: str) -> NoReturn:
    msg = f"The schema {what} if its references are followed: values cannot be checked with it."
    raise SchemaError(msg)


def _last_step(address: str) -> str:
    return address.partition("#")[0].rstrip("/").rpartition("/")[2]


def _for_parts(schema: Schema) -> list[Any]:
    """List the schemas that *schema* applies to parts of the value: properties, names, items."""
    parts = [part for key in _BY_NAME for part in mapping(schema, key).values()]
    return parts + [part for key in (*_OF_ALL, *_OF_PLACES) for part in _listed(schema.get(key))]


_OF_ALL = (
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "additionalItems",
    "unevaluatedItems",
)
_OF_PLACES = ("items", "prefixItems")
_BY_NAME = ("properties", "patternProperties")
_OF_PARTS = frozenset((*_OF_ALL, *_OF_PLACES, *_BY_NAME))


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _below(part: Any, applied: list[tuple[Schema, int, int]]) -> Iterator[tuple[Any, _Applied]]:
    """Yield each part inside *part*, with the schemas that *applied* apply to it.

    It may be some schemas too many: a pattern may match any name.
    """
    if isinstance(part, Mapping):
        steps: Any = part.items()
        names = [found for found in applied if "propertyNames" in found[0]]
        if names:
            for name in part:
                yield name, _together((s["propertyNames"], n, d) for s, n, d in names)
    else:
        steps = enumerate(part)
    for step, inner in steps:
        below = _together(
            (sub, times, depth)
            for schema, times, depth in applied
            for sub in _for_step(schema, step)
        )
        if below:
            yield inner, below


def _together(schemas: Any) -> _Applied:
    below: _Applied = {}
    for schema, times, depth in schemas:
        if isinstance(schema, Mapping):
            _, before, deepest = below.get(id(schema), (schema, 0, 0))
            below[id(schema)] = (schema, before + times, max(depth, deepest))
    return below


def _for_step(schema: Schema, step: str | int) -> Iterator[Any]:
    """Yield the schemas that *schema* may apply to the property or the item *step*."""
    if isinstance(step, str):
        declared = mapping(schema, "properties")
        if step in declared:
            yield declared[step]
        else:
            yield schema.get("additionalProperties")
        yield from mapping(schema, "patternProperties").values()
        yield schema.get("unevaluatedProperties")
        return
    for key in _OF_PLACES:
        places = schema.get(key)
        if not isinstance(places, list):
            yield places
        elif step < len(places):
            yield places[step]
    yield from (schema.get(key) for key in ("contains", "additionalItems", "unevaluatedItems"))


def _has_more_parts(value: Any, most: int) -> bool:
    """Tell whether *value* has more than *most* parts."""
    todo, count = [value], 1
    while todo and count <= most:
        part = todo.pop()
        count += len(part)
        inner = part.values() if isinstance(part, dict) else part
        todo += [each for each in inner if isinstance(each, _HOLDERS)]
    return count > most


def _missing(schema: Schema, part: Any) -> int:
    """Return how many names *part* lacks: there is an error for each of them."""
    if not isinstance(part, Mapping):
        return 0
    names = sequence(schema, "required")
    for key in ("dependentRequired", "dependencies"):
        for name, needed in mapping(schema, key).items():
            if name in part and isinstance(needed, list):
                names = [*names, *needed]
    return sum(1 for name in names if isinstance(name, str) and name not in part)


def _sizes(value: Any) -> dict[int, int]:
    """Return the bytes of each part of *value* in an error, about, by its id.

    An error about a name quotes the whole object, so a name has the size of the largest object
    that has it.
    """
    sizes: dict[int, int] = {}
    todo = [(value, False)]
    while todo:
        part, is_counted = todo.pop()
        if not isinstance(part, Mapping | list | tuple):
            sizes.setdefault(id(part), len(part) if isinstance(part, str) else 1)
            continue
        names, inner = [], list(part)
        if isinstance(part, Mapping):
            names, inner = inner, list(part.values())
        if is_counted:
            each = _PROPERTY if names else _ITEM
            size = sum(each + sizes.get(id(one), 0) for one in inner)
            sizes[id(part)] = size
            sizes.update((id(name), max(size, sizes.get(id(name), 0))) for name in names)
        elif id(part) not in sizes:
            sizes[id(part)] = 0
            todo.append((part, True))
            todo += [(one, False) for one in inner]
    return sizes
