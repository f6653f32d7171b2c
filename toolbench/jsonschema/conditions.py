"""Properties that an object has only in some cases: `if`, `then`, `else` and `dependentSchemas`."""

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

# The node module imports this one
if TYPE_CHECKING:
    from toolbench.jsonschema.normal import Node
    from toolbench.jsonschema.view import SchemaView

SOURCES = frozenset(("if", *DEPENDENT, *COMPOSITION))
"""The keywords by which a schema has cases, or is made of schemas that may have cases."""
# The most cases to read: a hostile schema has any number
_MOST = 200

_Test = tuple[Any, bool]
"""A test of an object: a schema or a key, and whether the object must fit it (have it) or must not."""


@dataclass(frozen=True)
class _Case:
    """A schema that an object has to fit only if it passes all *tests*.

    Attributes:
        tests: The tests of this case and of the cases around it.
        schema: The schema that the object then has to fit.
    """

    tests: tuple[_Test, ...]
    schema: Any


class Conditions:
    """The cases (`if`, `then`, `else`) in the schema of an object, also nested cases; at most 200."""

    def __init__(self, node: "Node") -> None:
        """Read the cases in the schema of *node*."""
        self._view = node.view
        self._cases = list(islice(_cases(node.view, node.raw, (), set()), _MOST))

    def properties_beside(self, nodes: Iterable["Node"]) -> "dict[str, Node]":
        """Return the properties that cases declare, without the properties that *nodes* have.

        If several cases declare a property, the first of these cases counts.
        """
        properties: dict[str, Node] = {}
        for case in self._cases:
            for name, node in self._declared(case).items():
                properties.setdefault(name, node)
        known = {name for node in nodes for name in node.properties}
        return {n: node for n, node in properties.items() if n not in known}

    def properties_of(self, value: Any) -> set[str]:
        """Return the names of the properties in all cases that apply to *value*."""
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


def _cases(
    view: "SchemaView",
    schema: Any,
    tests: tuple[_Test, ...],
    visited: set[tuple[Any, ...]],
) -> Iterator[_Case]:
    """Yield the cases in *schema* and in the schemas that it is made of.

    *tests* are the tests of the case to which *schema* belongs: each yielded case needs them too.
    """
    schema, _ = view.resolve(schema)
    if not isinstance(schema, Mapping):
        return
    parts = [_Case(tests, part) for key in TOGETHER for part in sequence(schema, key)]
    for case in [*parts, *_own(schema, tests)]:
        place = (id(case.schema), *map(_key, case.tests))
        # A hostile schema repeats itself for ever
        if place not in visited:
            visited.add(place)
            if case.tests:
                yield case
            yield from _cases(view, case.schema, case.tests, visited)


def _own(schema: Schema, tests: tuple[_Test, ...]) -> Iterator[_Case]:
    """Yield the cases that *schema* itself declares, except cases whose condition is in *tests* already."""
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
    """Return a key for *test*. Equal schemas that stand at two places have different keys."""
    schema, expected = test
    return (schema if isinstance(schema, str) else id(schema)), expected
