"""One difference between two JSON Schemas, and values that show it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, Self

from toolbench.jsonschema.normal import Node

Effect = Literal[
    "narrower", "wider", "different", "gone", "new", "guidance", "spelling"
]
"""What a difference does to the values that fit: fewer fit now (narrower), more do (wider),
others do (different); a property is not declared any more (gone) or is declared newly without
being required (new); the same fit and are chosen otherwise (guidance) or not (spelling)."""

REFUSES = frozenset({"narrower", "different", "gone"})
"""The effects by which a value that fitted may fit no more."""
ADMITS = frozenset({"wider", "different", "gone"})
"""The effects by which a value may come that did not fit; what is gone may be missing."""

MOST_EXAMPLES = 300
"""Values that are tried to show a difference."""

Values = Callable[[], Iterable[Any]]
"""Makes values when an example is asked for: most differences need none."""


@dataclass(frozen=True)
class Example:
    """A value at the place of the difference, and the whole value that it stands in."""

    value: Any
    whole: Any


@dataclass(frozen=True)
class Difference:
    """One difference at one place.

    Attributes:
        effect: What it does to the values that fit.
        where: The place in the schema, as a path: `properties/limit/maximum`.
        place: The place in a value, as a person writes it: `items[].sku`; empty for the whole.
        before: What the schema said there; None if nothing.
        after: What it says.
        text: What changed, without the place: `at most 100 before, at most 50 now`.
        refused: Makes values that may have fitted before and not now.
        admitted: Makes values that may fit now and did not.
    """

    effect: Effect
    where: str
    place: str
    before: Any
    after: Any
    text: str
    refused: Callable[[], Iterable[Example]] = tuple
    admitted: Callable[[], Iterable[Example]] = tuple

    def inside(
        self,
        step: str,
        name: str,
        before: Callable[[Any], Any],
        after: Callable[[Any], Any],
    ) -> Self:
        """Return the difference as a part of what holds it.

        Args:
            step: How the part is reached in the schema.
            name: How it is reached in a value: `sku`, `[]`.
            before: Puts a value of the part into what held it before.
            after: Puts one into what holds it now.
        """
        dot = "." if self.place and not self.place.startswith("[") else ""
        return replace(
            self,
            where=f"{step}/{self.where}".rstrip("/"),
            place=f"{name}{dot}{self.place}",
            refused=partial(_within, self.refused, before),
            admitted=partial(_within, self.admitted, after),
        )


def difference(
    effect: Effect,
    where: str,
    before: Any,
    after: Any,
    text: str,
    *,
    refused: Values = tuple,
    admitted: Values = tuple,
) -> Difference:
    """Return a difference right here; *refused* and *admitted* make values."""
    return Difference(
        effect,
        where,
        "",
        before,
        after,
        text,
        refused=partial(_examples, refused),
        admitted=partial(_examples, admitted),
    )


def said(node: Node, keyword: str) -> Any:
    """Return what *node* says under *keyword*; None if nothing."""
    return node.schema.get(keyword)


def _examples(values: Values) -> Iterable[Example]:
    return (Example(value, value) for value in islice(values(), MOST_EXAMPLES))


def _within(
    examples: Callable[[], Iterable[Example]], change: Callable[[Any], Any]
) -> Iterable[Example]:
    return (Example(each.value, change(each.whole)) for each in examples())
