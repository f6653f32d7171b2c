"""Refuse schemas and values with which validation would take too long.

By references, a schema of 2 kB can double itself 34 times. A validator would hold the interpreter's
lock for hours, and could not be interrupted. So its work is estimated before it starts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any, NoReturn

from toolbench.errors import SchemaError
from toolbench.jsonschema.types import Schema
from toolbench.jsonschema.walk import (
    CASES,
    DEPENDENT,
    MISSING,
    REFERENCES,
    TOGETHER,
    follow,
    mapping,
    objects_in,
    required_of,
    sequence,
)

MOST_BYTES = 500_000
"""The most bytes of a schema as JSON. The largest of 2,132 public tools has 44,000."""
MOST_SCHEMAS = 20_000
"""The most schemas in a schema with its references followed. Public tools have up to 2,500."""
MOST_FOR_ONE_VALUE = 1_000
"""The most schemas for the same value, such as alternatives. Public tools have up to 50."""
DEEPEST = 200
"""The deepest nesting of schemas with references followed, and the deepest nesting of values."""

# Schemas that are applied to a value, and parts of a value to look at
_MOST_CHECKS = 50_000_000
_MOST_PARTS = 1_000_000
# Errors that a wrong value may have, each of about 3 kB
_MOST_ERRORS = 20_000
_ERROR = 3_000
# A union keeps the errors of its branches, so that a deep error is copied many times
_COPIED_LEVELS = 50
# Objects that are passed in a search for all names that a schema refers to
_MOST_PASSED = 400_000
# `unevaluatedProperties` evaluates the schemas for the same value once more, and marks what fits
_AGAIN = 3
# Bytes of a property, and of an item, in an error
_PROPERTY = 250
_ITEM = 40
_QUOTED = ("enum", "const", "pattern", "not")
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_REPEATING = frozenset((*REFERENCES, *_UNEVALUATED))
# An object with one of these is the root of the references inside it
_ROOTS = frozenset({"$id", "id", "$recursiveAnchor"})
# Exact classes: a check by `Mapping` takes longer than that of a small value
_HOLDERS = (dict, list, tuple)

_OF_NAMES = ("properties", "patternProperties")
_OF_PLACES = ("items", "prefixItems")
_OF_ALL = (
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "additionalItems",
    "unevaluatedItems",
)
_OF_PARTS = frozenset((*_OF_ALL, *_OF_PLACES, *_OF_NAMES))

_Applied = dict[int, tuple[Schema, int, int]]
"""The schemas for one value, by id: the schema, how often it is applied, and how deep it is."""


def check_extent(schema: Any) -> None:
    """Check that *schema* is not too large, even if its references are followed.

    Raises:
        SchemaError: If the schema is too large.
    """
    check_length(dumps(schema))
    Extent(schema, schema)


def check_length(text: str) -> None:
    """Check that *text*, a schema as JSON, is not too long to be read.

    Raises:
        SchemaError: If the text is too long.
    """
    if len(text) > MOST_BYTES:
        msg = f"The schema has {len(text):,} bytes; more than {MOST_BYTES:,} are not read."
        raise SchemaError(msg)


@dataclass(slots=True)
class _Measured:
    """The size of one schema with its references followed.

    Attributes:
        level: The number of schemas that contain this schema.
        schemas: The number of schemas inside this schema, including itself.
        for_value: The number of those schemas that apply to the same value as this schema.
        levels: The depth to which the schemas are nested.
        is_open: Whether this schema is still being counted. Until then, `schemas`, `for_value` and
            `levels` are 0. A reference from an inner schema to an open schema closes a circle.
        circle: The outermost schema of the circle to which this schema belongs, or None.
    """

    level: int
    schemas: int = 0
    for_value: int = 0
    levels: int = 0
    is_open: bool = True
    circle: "_Measured | None" = None

    def leads_to(self, other: "_Measured") -> None:
        """Note that *other*, a schema inside this one, may lead back to a schema around it."""
        end: _Measured | None = other
        if not other.is_open:
            end = other.circle
        if end is None or not end.is_open:
            return
        if self.circle is None or end.level < self.circle.level:
            self.circle = end


class Extent:
    """The size of one schema, from which the time for the validation of a value is estimated.

    Attributes:
        schemas: The number of schemas inside the schema. If several references lead to a schema,
            it is counted once for each reference. Circular references are followed only once.
        is_circular: Whether a reference leads back to a schema that contains it.
    """

    def __init__(self, root: Any, entry: Any) -> None:
        """Measure *entry*, which is *root* or a part of it; references lead to parts of *root*.

        Raises:
            SchemaError: If *entry* is so large that checking a value would take too long.
        """
        self._root, self._entry = root, entry
        self._objects = list(objects_in(root))
        # Parts of the root that are roots themselves, by the last step of their addresses
        self._roots: dict[str, list[Any]] = {}
        self._targets: dict[str, list[Any]] = {}
        self._measured: dict[int, _Measured] = {}
        self._applied: dict[int, _Applied] = {}
        self._quoted: dict[int, int] = {}
        self.is_circular = False
        # Most are so: what stands there once is read once
        self.schemas = len(self._objects)
        if self._repeats() or len(self._objects) > MOST_FOR_ONE_VALUE:
            self.schemas = self._measure(entry, 0).schemas
        if self.is_circular:
            self._check_circles()
        # Validators are kept, and these are needed no more
        self._objects.clear()
        self._measured.clear()

    def is_too_much(self, value: Any) -> bool:
        """Tell whether checking *value* would take longer than a few seconds."""
        if not isinstance(value, _HOLDERS):
            return False
        most_parts = _MOST_CHECKS // max(self.schemas, 1)
        if not self.is_circular and not _has_more_parts(value, most_parts):
            return False
        checks = 0
        try:
            for _, applied in self._visits(value):
                checks += sum(times for _, times, _ in applied)
                if checks > _MOST_CHECKS:
                    return True
        except OverflowError:
            return True
        return False

    def has_too_many_errors(self, value: Any) -> bool:
        """Tell whether a list of all errors in *value* could take too much memory.

        Each error contains a copy of a part of *value*, and of the schema for this part.
        """
        errors = 0
        try:
            for part, applied in self._visits(value):
                size = _size(part)
                for schema, times, depth in applied:
                    each = 1 + (size + self._quoted_of(schema)) // _ERROR + depth // _COPIED_LEVELS
                    refusals = self._for_same_value(schema).count(False)
                    errors += times * each * (1 + refusals + _missing(schema, part))
                if errors > _MOST_ERRORS:
                    return True
        except (OverflowError, RecursionError, ValueError):
            # Too deep for a repr, or with a number that is too long for one
            return True
        return False

    # --- the schemas inside a schema ------------------------------------------------

    def _repeats(self) -> bool:
        """Find the parts that have an `$id`, and tell whether any schema may apply repeatedly.

        Raises:
            SchemaError: If finding the targets of all references would take too long.
        """
        repeats = False
        roots = references = names = 0
        for part in self._objects:
            repeats = repeats or not _REPEATING.isdisjoint(part)
            if part is not self._root and not _ROOTS.isdisjoint(part):
                roots += 1
                address = part.get("$id", part.get("id"))
                self._roots.setdefault(_last_step(address), []).append(part)
            for key in REFERENCES:
                if isinstance(reference := part.get(key), str):
                    references += 1
                    names += reference != "#" and not reference.startswith("#/")
        if names * len(self._objects) * (1 + roots) + references * roots > _MOST_PASSED:
            _refuse("has too many references to names")
        return repeats

    def _for_same_value(self, schema: Schema) -> list[Any]:
        """List the schemas that *schema* applies to its own value."""
        parts = []
        for key in TOGETHER:
            parts += sequence(schema, key)
        for key in (*CASES, "not"):
            if key in schema:
                parts.append(schema[key])
        for key in DEPENDENT:
            parts += mapping(schema, key).values()
        for key in REFERENCES:
            if isinstance(reference := schema.get(key), str):
                if reference not in self._targets:
                    self._targets[reference] = self._targets_of(reference)
                parts += self._targets[reference]
        if not _UNEVALUATED.isdisjoint(schema):
            parts *= _AGAIN
        return parts

    def _targets_of(self, reference: str) -> list[Any]:
        """List all parts to which *reference* may lead, depending on where it is used."""
        address, _, fragment = reference.partition("#")
        known = self._roots
        if address and _last_step(address) in known:
            known = {"": known[_last_step(address)]}
        targets = []
        for roots in ([self._root], *known.values()):
            for root in roots:
                target = follow(root, f"#{fragment}")
                if target is not MISSING:
                    targets.append(target)
        return targets

    def _measure(self, schema: Any, level: int) -> _Measured:
        """Count the schemas inside *schema*, as if each reference were replaced by its target.

        A reference back to a schema that contains it is not followed. In a circle, schemas for
        parts of the value are counted once.

        Raises:
            SchemaError: If there are too many schemas.
        """
        if not isinstance(schema, Mapping):
            return _Measured(level, is_open=False)
        known = self._measured.get(id(schema))
        if known is not None:
            self.is_circular = self.is_circular or known.is_open
            return known
        if level >= DEEPEST:
            _refuse(f"has schemas nested more than {DEEPEST} levels deep")
        own = self._measured[id(schema)] = _Measured(level)
        schemas = for_value = 1
        levels = 0
        same = self._for_same_value(schema)
        for n, part in enumerate([*same, *_for_parts(schema)]):
            is_first = id(part) not in self._measured
            inner = self._measure(part, level + 1)
            own.leads_to(inner)
            if is_first or inner.circle is None:
                schemas += inner.schemas
            else:
                schemas += inner.for_value
            if n < len(same):
                for_value += inner.for_value
            levels = max(levels, inner.levels)
        if schemas > MOST_SCHEMAS:
            _refuse(f"has more than {MOST_SCHEMAS:,} schemas inside")
        if for_value > MOST_FOR_ONE_VALUE:
            _refuse(f"has more than {MOST_FOR_ONE_VALUE:,} schemas for the same value")
        if levels >= DEEPEST:
            _refuse(f"has schemas nested more than {DEEPEST} levels deep")
        own.schemas, own.for_value, own.levels = schemas, for_value, levels + 1
        own.is_open = False
        return own

    def _check_circles(self) -> None:
        """Check how often schemas in circles are applied to one value.

        A schema is applied once for each chain of references that leads to it.

        Raises:
            SchemaError: If a schema is applied too often.
        """
        for schema in self._objects:
            own = self._measured.get(id(schema))
            if own is None or own.circle is None:
                continue
            try:
                ways = sum(times for _, times, _ in self._applied_with(schema).values())
            except OverflowError:
                ways = MOST_SCHEMAS
            if ways > MOST_FOR_ONE_VALUE:
                _refuse(f"has more than {MOST_FOR_ONE_VALUE:,} schemas for the same value")
        self._applied.clear()

    # --- how much work a value makes ------------------------------------------------

    def _visits(self, value: Any) -> Iterator[tuple[Any, list[tuple[Schema, int, int]]]]:
        """Yield each part of *value*, with the schemas that are applied to it.

        Raises:
            OverflowError: If there are too many levels or parts.
        """
        todo: list[tuple[Any, int, _Applied]] = [(value, 0, {0: (self._entry, 1, 0)})]
        looked_at = 0
        while todo:
            part, level, schemas = todo.pop()
            applied = []
            for schema, times, depth in schemas.values():
                for one, again, deeper in self._applied_with(schema).values():
                    applied.append((one, times * again, depth + deeper))
            looked_at += len(applied)
            if level > DEEPEST or looked_at > _MOST_PARTS:
                raise OverflowError
            yield part, applied
            holders = [found for found in applied if not _OF_PARTS.isdisjoint(found[0])]
            if holders and isinstance(part, Mapping | list | tuple):
                looked_at += len(part) * len(holders)
                for inner, below in _below(part, holders):
                    todo.append((inner, level + 1, below))

    def _applied_with(self, schema: Any) -> _Applied:
        """Return *schema* and all schemas that it applies to the same value.

        Raises:
            OverflowError: If there are too many, for example in circles that share a schema.
        """
        known = self._applied.get(id(schema))
        if known is not None:
            return known
        applied: _Applied = {}
        passed = 0
        todo = [(schema, frozenset[int]())]
        while todo:
            one, around = todo.pop()
            if not isinstance(one, Mapping) or id(one) in around:
                continue
            passed += 1
            if passed > MOST_SCHEMAS:
                raise OverflowError
            _add(applied, one, 1, len(around) + 1)
            around |= {id(one)}
            for part in self._for_same_value(one):
                todo.append((part, around))
        self._applied[id(schema)] = applied
        return applied

    def _quoted_of(self, schema: Schema) -> int:
        """Return the size, in bytes, of the rules of *schema* that its errors quote."""
        own = id(schema)
        if own not in self._quoted:
            self._quoted[own] = _size([schema[key] for key in _QUOTED if key in schema])
        return self._quoted[own]


def _refuse(what: str) -> NoReturn:
    msg = f"The schema {what} if its references are followed: values cannot be checked with it."
    raise SchemaError(msg)


def _last_step(address: Any) -> str:
    return str(address).partition("#")[0].rstrip("/").rpartition("/")[2]


def _for_parts(schema: Schema) -> list[Any]:
    """List the schemas that *schema* applies to parts of the value: properties, names, items."""
    parts: list[Any] = []
    for key in _OF_NAMES:
        parts += mapping(schema, key).values()
    for key in (*_OF_ALL, *_OF_PLACES):
        parts += sequence(schema, key) or [schema.get(key)]
    return parts


def _add(applied: _Applied, schema: Any, times: int, depth: int) -> None:
    """Note in *applied* that *schema* is applied *times* more often."""
    if isinstance(schema, Mapping):
        _, before, deepest = applied.get(id(schema), (schema, 0, 0))
        applied[id(schema)] = (schema, before + times, max(depth, deepest))


def _below(part: Any, applied: list[tuple[Schema, int, int]]) -> Iterator[tuple[Any, _Applied]]:
    """Yield each part directly inside *part*, with the schemas that are applied to it.

    *applied* are the schemas that are applied to *part* itself. The result may have more schemas
    than a validator applies, because a pattern for names is assumed to match any name.
    """
    names: _Applied = {}
    steps: Any = enumerate(part)
    if isinstance(part, Mapping):
        steps = part.items()
        for schema, times, depth in applied:
            _add(names, schema.get("propertyNames"), times, depth)
    for step, inner in steps:
        if names:
            # An error about a name quotes the whole object
            yield part, names
        below: _Applied = {}
        for schema, times, depth in applied:
            for sub in _for_step(schema, step):
                _add(below, sub, times, depth)
        if below:
            yield inner, below


def _for_step(schema: Schema, step: str | int) -> list[Any]:
    """List the schemas that *schema* may apply to one part: a property name, or an item's index."""
    if isinstance(step, str):
        declared = mapping(schema, "properties")
        own = declared.get(step, schema.get("additionalProperties"))
        patterns = mapping(schema, "patternProperties").values()
        return [own, *patterns, schema.get("unevaluatedProperties")]
    parts = [schema.get(key) for key in ("contains", "additionalItems", "unevaluatedItems")]
    for key in _OF_PLACES:
        places = schema.get(key)
        if not isinstance(places, list):
            parts.append(places)
        elif step < len(places):
            parts.append(places[step])
    return parts


def _has_more_parts(value: Any, most: int) -> bool:
    """Tell whether *value* has more than *most* parts."""
    todo, count = [value], 1
    while todo and count <= most:
        part = todo.pop()
        count += len(part)
        if isinstance(part, dict):
            part = part.values()
        todo += [each for each in part if isinstance(each, _HOLDERS)]
    return count > most


def _missing(schema: Schema, part: Any) -> int:
    """Return how many names *part* lacks that *schema* requires, because each one is an error."""
    if not isinstance(part, Mapping):
        return 0
    missing = sum(1 for name in required_of(schema) if name not in part)
    for key in ("dependentRequired", "dependencies"):
        needed = mapping(schema, key)
        missing += sum(len(sequence(needed, name)) for name in needed if name in part)
    return missing


def _size(part: Any) -> int:
    """Return about how many bytes *part* takes in an error."""
    if isinstance(part, str):
        return len(part)
    text = repr(part)
    return len(text) + _PROPERTY * text.count("': ") + _ITEM * text.count(", ")
