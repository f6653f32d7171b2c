"""Properties that an object has only in some cases: `if`, `then` and `else`, `dependentSchemas`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolbench.jsonschema.types import Schema
from toolbench.jsonschema.walk import (
    COMPOSITION,
    DEPENDENT,
    TOGETHER,
    mapping,
    sequence,
)

if TYPE_CHECKING:  # a node asks for its conditions
    from toolbench.jsonschema.normal import Node
    from toolbench.jsonschema.view import SchemaView

_SOURCES = frozenset(("if", *DEPENDENT, *COMPOSITION))
_MOST = 200  # cases that are looked at: a hostile schema has them without end

_Test = tuple[Any, bool]
"""A schema, or the name of a key, and whether the object has to fit it, or to have it."""


@dataclass(frozen=True)
class _Case:
    """What an object has to fit when all *tests* come out right.

    Attributes:
        tests: A case inside another one has the tests of that one as well.
        schema: What applies then.
    """

    tests: tuple[_Test, ...]
    schema: Any


class Conditions:
    """The cases of an object schema, wherever in it they stand."""

    def __init__(self, node: "Node") -> None:
        """Read the conditions of *node*."""
        self._view = node.view
        self._cases = list(islice(_cases(node.view, node.raw, (), set()), _MOST))

    def properties_beside(self, nodes: Iterable["Node"]) -> "dict[str, Node]":
        """Return what some case declares and none of *nodes*, as the first case has it."""
        properties: dict[str, Node] = {}
        for case in self._cases:
            for name, node in self._declared(case).items():
                properties.setdefault(name, node)
        known = {name for node in nodes for name in node.properties}
        return {n: node for n, node in properties.items() if n not in known}

    def properties_of(self, value: Any) -> set[str]:
        """Return the names of the properties that the cases of *value* declare."""
        names: set[str] = set()
        for case in self._cases:
            if all(self._holds(test, value) for test in case.tests):
                names |= self._declared(case).keys()
        return names

    def _holds(self, test: _Test, value: Any) -> bool:
        schema, expected = test
        if isinstance(schema, str):
            return isinstance(value, Mapping) and schema in value
        return self._view.fits(schema, value) is expected

    def _declared(self, case: _Case) -> "Mapping[str, Node]":
        return self._view.node(case.schema).declared


def may_have_cases(schema: Any) -> bool:
    """Tell whether *schema* names cases itself, or is put together from schemas that may."""
    return isinstance(schema, Mapping) and not schema.keys().isdisjoint(_SOURCES)


def _cases(
    view: "SchemaView",
    schema: Any,
    tests: tuple[_Test, ...],
    visited: set[tuple[Any, ...]],
) -> Iterator[_Case]:
    """Yield the cases of *schema*, which applies where *tests* come out right."""
    schema, _ = view.resolve(schema)
    if not isinstance(schema, Mapping):
        return
    parts = [_Case(tests, part) for key in TOGETHER for part in sequence(schema, key)]
    for case in [*parts, *_own(schema, tests)]:
        place = (id(case.schema), *map(_key, case.tests))
        if place not in visited:  # a hostile schema repeats itself without end
            visited.add(place)
            if case.tests:
                yield case
            yield from _cases(view, case.schema, case.tests, visited)


def _own(schema: Schema, tests: tuple[_Test, ...]) -> Iterator[_Case]:
    """Yield the cases that *schema* itself tells apart, but for those it is a part of."""
    own: list[tuple[_Test, Any]] = []
    if "if" in schema:
        own += [((schema["if"], True), schema.get("then"))]
        own += [((schema["if"], False), schema.get("else"))]
    for keyword in DEPENDENT:
        own += [((name, True), part) for name, part in mapping(schema, keyword).items()]
    known = {_key(test)[0] for test in tests}
    for test, part in own:
        if isinstance(part, Mapping) and _key(test)[0] not in known:
            yield _Case((*tests, test), part)


def _key(test: _Test) -> tuple[Any, bool]:
    """Return what tells *test* from others: schemas that are written twice are two."""
    schema, expected = test
    return (schema if isinstance(schema, str) else id(schema)), expected
