"""One difference between two JSON Schemas, and values that show it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, Self

from toolbench.jsonschema.node import Node

Effect = Literal["narrower", "wider", "different", "gone", "new", "guidance", "spelling"]
"""The effect of a difference on the values that fit.

- narrower, wider, different: fewer values fit, more values fit, or other values fit.
- gone, new: a property is not declared any more, or is new and optional.
- guidance: the same values fit, but a model may choose another value.
- spelling: the same values fit, and a model notices nothing.
"""

REFUSES = frozenset({"narrower", "different", "gone"})
"""The effects by which values may be refused that fitted before."""
ADMITS = frozenset({"wider", "different", "gone"})
"""The effects by which new values may be allowed. If a property is gone, it may be missing."""

MOST_EXAMPLES = 300
"""The most values that are tried as an example of a difference."""

Values = Callable[[], Iterable[Any]]
"""A function that makes values. It is called only when an example is needed."""


@dataclass(frozen=True)
class Example:
    """A value in which a difference shows, and the whole value that contains it."""

    value: Any
    whole: Any


@dataclass(frozen=True)
class Difference:
    """One difference between two schemas.

    Attributes:
        effect: Whether fewer values fit now, or more, or other values; see `Effect`.
        where: The path of the keyword in the schema: `properties/limit/maximum`.
        place: The part of a value that is concerned, as a person writes it: `items[].sku`. It is
            empty if the whole value is concerned.
        before: The old part of the schema; None if there was none.
        after: The new part of the schema; None if there is none.
        text: What changed, without the place: `at most 100 before, at most 50 now`.
        refused: A function that makes values which may have fitted before and do not fit now.
        admitted: A function that makes values which may fit now and did not fit before.
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
        """Return the difference of a sub-schema as a difference of its parent schema.

        Args:
            step: The path from the parent schema to the sub-schema: `properties/sku`, `items`.
            name: The part of a value that this path stands for: `sku`, `[]`.
            before: A function that puts a value of the sub-schema into a value of the old parent.
            after: A function that puts a value of the sub-schema into a value of the new parent.
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
    """Return a difference that concerns the whole value, not a part of it.

    The arguments are those of `Difference`, except that *refused* and *admitted* return plain
    values. This function makes an `Example` from each value.
    """
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


def keyword_value(node: Node, keyword: str) -> Any:
    """Return the value of *keyword* in *node*; None if *node* does not have the keyword."""
    return node.schema.get(keyword)


def _examples(values: Values) -> Iterable[Example]:
    return (Example(value, value) for value in islice(values(), MOST_EXAMPLES))


def _within(
    examples: Callable[[], Iterable[Example]], change: Callable[[Any], Any]
) -> Iterable[Example]:
    return (Example(each.value, change(each.whole)) for each in examples())
