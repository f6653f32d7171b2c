"""Compare the limits of numbers, texts, lists and objects in two schemas."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import ceil, floor, inf
from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import words
from toolbench.mcp.snapshots.schema_diff.difference import (
    Difference,
    Effect,
    Values,
    difference,
    keyword_value,
)
from toolbench.mcp.snapshots.schema_diff.examples import numbers_of, texts_of
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    texts_matching,
)
from toolbench.mcp.snapshots.schema_diff.patterns.text_patterns import beyond
from toolbench.values import clip

# Characters or items of an example
_LONGEST = 10_000


def number_limits(before: Node, after: Node) -> Iterator[Difference]:
    """Yield the differences between the limits that two schemas set for a number."""
    for lower in (True, False):
        old, new = end_of(before, lower=lower), end_of(after, lower=lower)
        if old.strictness != new.strictness:
            tighter = new.strictness > old.strictness
            yield _changed(
                "narrower" if tighter else "wider",
                new.keyword or old.keyword,
                old,
                new,
                refused=partial(_near, old, new),
                admitted=partial(_near, new, old),
            )
    yield from _steps(before, after)


def text_limits(before: Node, after: Node) -> Iterator[Difference]:
    """Yield the differences between two schemas in the length and the patterns of a text."""
    yield from _counts(before, after, "minLength", "maxLength", partial(_of_length, before, after))
    yield from _patterns(before, after)


def list_limits(
    before: Node, after: Node, items: Callable[[Node, int], list[Any]]
) -> Iterator[Difference]:
    """Yield the differences between two schemas in how long a list may be, and in whether its items may repeat.

    `items(node, n)` returns a list of *n* items.
    """
    yield from _counts(before, after, "minItems", "maxItems", lambda n: [items(before, n)])
    old, new = (keyword_value(node, "uniqueItems") is True for node in (before, after))
    most = (node.limit("maxItems") for node in (before, after))
    if old != new and not any(each is not None and each <= 1 for each in most):
        yield difference(
            "narrower" if new else "wider",
            "uniqueItems",
            old,
            new,
            "the same item twice was "
            + ("allowed, and is not now" if new else "refused, and is allowed now"),
            refused=lambda: [items(before, 2)],
            admitted=lambda: [items(after, 2)],
        )


def key_limits(
    before: Node, after: Node, keys: Callable[[int], dict[str, Any]]
) -> Iterator[Difference]:
    """Yield the differences between two schemas in how many keys an object may have.

    `keys(n)` returns an object with *n* keys.
    """
    yield from _counts(before, after, "minProperties", "maxProperties", lambda n: [keys(n)])


# --- numbers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    """The lower or the upper end of the numbers that fit a schema."""

    keyword: str
    value: float | int
    is_exclusive: bool
    sign: int
    limit: Any = None

    @property
    def strictness(self) -> tuple[float, bool]:
        """A sort key. Of two lower ends (or two upper ends), the larger key allows fewer numbers."""
        return self.sign * self.value, self.is_exclusive

    @property
    def text(self) -> str:
        """The limit in words."""
        return words(self.keyword, self.limit) if self.keyword else "no such limit"


def end_of(node: Node, *, lower: bool) -> End:
    """Return the strictest lower limit of *node*, or the strictest upper limit if not *lower*."""
    sign = 1 if lower else -1
    inclusive, exclusive = (
        ("minimum", "exclusiveMinimum") if lower else ("maximum", "exclusiveMaximum")
    )
    ends = [End("", -sign * inf, is_exclusive=False, sign=sign)]
    plain, strict = keyword_value(node, inclusive), keyword_value(node, exclusive)
    if _is_number(plain):
        # Draft 4
        keyword = exclusive if strict is True else inclusive
        ends.append(End(keyword, plain, strict is True, sign, plain))
    if _is_number(strict):
        ends.append(End(exclusive, strict, is_exclusive=True, sign=sign, limit=strict))
    if node.type == "integer":
        ends = [_whole(end) for end in ends]
    return max(ends, key=lambda end: end.strictness)


def _whole(end: End) -> End:
    """Return *end*, moved to the nearest whole number that fits; this number is included."""
    if end.value in (inf, -inf):
        return end
    value = ceil(end.value) if end.sign > 0 else floor(end.value)
    if end.is_exclusive and value == end.value:
        value += end.sign
    return End(end.keyword, value, is_exclusive=False, sign=end.sign, limit=end.limit)


def _near(loose: End, tight: End) -> list[Any]:
    """Return numbers near the two ends, to find one that *loose* allows and *tight* refuses."""
    numbers: list[Any] = []
    for end in (loose, tight):
        if end.value not in (inf, -inf):
            sign = end.sign
            numbers += [end.value, end.value - sign, end.value + sign]
            # An integer has no largest value
            with suppress(OverflowError):
                numbers += [end.value - sign * 0.5, end.value + sign * 0.5]
    if loose.value not in (inf, -inf) and tight.value not in (inf, -inf):
        with suppress(OverflowError):
            numbers.append((loose.value + tight.value) / 2)
    return numbers


def is_whole(node: Node) -> bool:
    """Tell whether *node* accepts whole numbers only."""
    step = node.limit("multipleOf")
    is_step = step is not None and step >= 1 and step % 1 == 0
    return node.type == "integer" or (node.type == "number" and is_step)


def _steps(before: Node, after: Node) -> Iterator[Difference]:
    old, new = keyword_value(before, "multipleOf"), keyword_value(after, "multipleOf")
    if old is None and new is not None and before.type == "integer":
        old = 1
    if new is None and old is not None and after.type == "integer":
        new = 1
    if old == new:
        return
    effect: Effect = "different"
    if old is None or (_is_number(old) and _is_number(new) and _divides(old, new)):
        effect = "narrower"
    elif new is None or (_is_number(old) and _is_number(new) and _divides(new, old)):
        effect = "wider"
    yield difference(
        effect,
        "multipleOf",
        old,
        new,
        _both_in_words("multipleOf", old, new),
        refused=partial(numbers_of, before),
        admitted=partial(numbers_of, after),
    )


def _divides(small: float, large: float) -> bool:
    if small == 0:
        return False
    if isinstance(small, int) and isinstance(large, int):
        return large % small == 0
    try:
        return (large / small) % 1 == 0
    except OverflowError:
        return False


# --- lengths and patterns ---------------------------------------------------------------


def _counts(
    before: Node,
    after: Node,
    least: str,
    most: str,
    make: Callable[[int], Iterable[Any]],
) -> Iterator[Difference]:
    for keyword, default, sign in ((least, 0, 1), (most, inf, -1)):
        old, new = (_count(node, keyword, default) for node in (before, after))
        if old == new or _has_no_room(keyword, (before, old), (after, new)):
            continue
        loose, tight = (old, new) if sign * new > sign * old else (new, old)
        sizes = [loose, tight - sign, tight + sign]
        values = partial(_of_sizes, make, sizes)
        narrower = loose == old
        yield _worded(
            "narrower" if narrower else "wider",
            keyword,
            keyword_value(before, keyword),
            keyword_value(after, keyword),
            refused=values if narrower else tuple,
            admitted=tuple if narrower else values,
        )


def _of_sizes(make: Callable[[int], Iterable[Any]], sizes: list[float]) -> Iterator[Any]:
    for size in sizes:
        if 0 <= size < _LONGEST:
            yield from make(int(size))


def _of_length(before: Node, after: Node, size: int) -> Iterator[str]:
    yield "a" * size
    for pattern in (keyword_value(before, "pattern"), keyword_value(after, "pattern")):
        if isinstance(pattern, str):
            yield from texts_matching(pattern, (size,))


def _has_no_room(keyword: str, *sides: tuple[Node, float]) -> bool:
    """Tell whether a change of `maxItems` has no effect, because both schemas allow no further items.

    Both then are tuples (`prefixItems`) with the same number of items.
    """
    if keyword != "maxItems" or any(keyword_value(n, "items") is not False for n, _ in sides):
        return False
    old, new = (min(most, len(node.prefix_items)) for node, most in sides)
    return old == new


def _count(node: Node, keyword: str, default: float) -> float:
    number = node.limit(keyword)
    return default if number is None else number


def _patterns(before: Node, after: Node) -> Iterator[Difference]:
    old, new = keyword_value(before, "pattern"), keyword_value(after, "pattern")
    if old == new:
        return
    lost, come = beyond(before, after), beyond(after, before)
    if not lost and not come:
        text = "the pattern is written differently and matches the same texts"
        yield difference("spelling", "pattern", old, new, text)
        return
    effect: Effect = "different"
    if not come or old is None:
        effect = "narrower"
    elif not lost or new is None:
        effect = "wider"
    yield _worded(
        effect,
        "pattern",
        old,
        new,
        refused=lambda: chain(lost, texts_of(before)),
        admitted=lambda: chain(come, texts_of(after)),
    )


# --- words ------------------------------------------------------------------------------


def _changed(
    effect: Effect,
    keyword: str,
    old: End,
    new: End,
    *,
    refused: Values,
    admitted: Values,
) -> Difference:
    text = f"{old.text} before, {new.text} now"
    texts = (old.limit, new.limit)
    return difference(effect, keyword, *texts, text, refused=refused, admitted=admitted)


def _worded(
    effect: Effect,
    keyword: str,
    old: Any,
    new: Any,
    *,
    refused: Values,
    admitted: Values,
) -> Difference:
    text = _both_in_words(keyword, old, new)
    return difference(effect, keyword, old, new, text, refused=refused, admitted=admitted)


def _both_in_words(keyword: str, old: Any, new: Any) -> str:
    none = "any text" if keyword == "pattern" else "no such limit"
    old, new = (
        (words(keyword, value) or clip(value)) if value is not None else none
        for value in (old, new)
    )
    return f"{old} before, {new} now"


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value == value
