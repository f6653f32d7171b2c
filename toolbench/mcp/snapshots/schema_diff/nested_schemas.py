"""Compare the sub-schemas of objects and lists: properties, other keys, items."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import (
    ADMITS,
    REFUSES,
    Difference,
    Effect,
    difference,
    keyword_value,
)
from toolbench.mcp.snapshots.schema_diff.examples import example_of, others
from toolbench.mcp.snapshots.schema_diff.limits import key_limits, list_limits
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    UndecidedError,
    text_beyond,
    texts_matching,
)
from toolbench.mcp.snapshots.schema_diff.patterns.text_patterns import is_within
from toolbench.values import clip

Compare = Callable[[Node, Node], list[Difference]]
# The name of a key that no schema declares
_KEY = "another"


# --- objects ----------------------------------------------------------------------------


def object_parts(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    """Yield the differences between two schemas of objects: their properties and their other keys."""
    old, new = before.properties, after.properties
    renamed = _renamed(before, after)
    for name in old:
        if name in new:
            for each in compare(old[name], new[name]):
                yield _of_property(each, before, after, name)
        else:
            yield from _removed(before, after, name, compare, renamed)
    for name in new:
        other = None if name in old else _of_key(before, name)
        for each in () if other is None else compare(other, new[name]):
            yield _of_property(each, before, after, name)
    yield from _required(before, after, renamed)
    yield from _other_keys(before, after, compare)
    yield from key_limits(before, after, partial(_with_keys, before))


def _of_property(each: Difference, before: Node, after: Node, name: str) -> Difference:
    step = f"properties/{name}"
    return each.inside(step, name, partial(_put, before, name), partial(_put, after, name))


def _put(node: Node, name: str, value: Any) -> Any:
    return {**_base(node), name: value}


def _without(node: Node, name: str) -> list[Any]:
    return [{key: value for key, value in _base(node).items() if key != name}]


def _base(node: Node) -> dict[str, Any]:
    example = example_of(node)
    return example if isinstance(example, dict) else {}


def _renamed(before: Node, after: Node) -> str | None:
    """Return the only new property of the kind of the only removed one, which seems renamed; else None."""
    removed = [name for name in before.properties if name not in after.properties]
    if len(removed) != 1:
        return None
    kind = kind_of(before.properties[removed[0]])
    added = [name for name in after.properties if name not in before.properties]
    alike = [name for name in added if kind_of(after.properties[name]) == kind]
    if len(alike) != 1:
        return None
    if _of_key(after, removed[0]) is not None or _of_key(before, alike[0]) is not None:
        return None
    return alike[0]


def _removed(
    before: Node, after: Node, name: str, compare: Compare, renamed: str | None
) -> Iterator[Difference]:
    """Yield the differences for the property *name*, which *after* does not declare any more.

    A rule of *after* for other keys may apply to it. If it seems to be *renamed* now, what is said
    of that property is said here.
    """
    other = _of_key(after, name)
    if other is not None:
        for each in compare(before.properties[name], other):
            yield _of_property(each, before, after, name)
        return
    prop = before.properties[name]
    was_required = name in before.required
    how = "required" if was_required else "optional"
    text = f"{name!r} is not declared any more (it was {how}: {kind_of(prop)})"
    if renamed is not None:
        how = "required" if renamed in after.required else "optional"
        text = f"{name!r} -> {renamed!r}? {text}, {renamed!r} is new and {how}"
    yield difference(
        "gone",
        f"properties/{name}",
        prop.raw,
        None if renamed is None else after.properties[renamed].raw,
        text,
        refused=lambda: [_put(before, name, example_of(prop))],
        admitted=partial(_without, before, name),
    )


def _of_key(node: Node, name: str) -> Node | None:
    """Return the schema of the undeclared key *name*; None if there is no rule for the key."""
    other = node.of_other_key(name)
    return None if other is None or other.is_blank else other


def _added(before: Node, after: Node, name: str) -> Difference:
    new = after.properties[name]
    text = f"{name!r} can be left out and is new: {kind_of(new)}"
    return difference("new", f"properties/{name}", None, new.raw, text)


def _required(before: Node, after: Node, renamed: str | None) -> Iterator[Difference]:
    old, new = before.properties, after.properties
    needed = set(after.required) - set(before.required)
    for name in new:
        if name == renamed:
            continue
        if name in needed:
            yield _newly_required(before, after, name)
        elif name not in old:
            yield _added(before, after, name)
    for name in before.required:
        if name not in after.required and name in new:
            yield _no_longer_required(before, after, name)


def _newly_required(before: Node, after: Node, name: str) -> Difference:
    is_new = name not in before.properties
    what = (
        f"new and required: {kind_of(after.properties[name])}"
        if is_new
        else ("required now; it could be left out before")
    )
    return difference(
        "narrower",
        "required",
        keyword_value(before, "required"),
        keyword_value(after, "required"),
        f"{name!r} is {what}",
        refused=partial(_without, before, name),
    )


def _no_longer_required(before: Node, after: Node, name: str) -> Difference:
    return difference(
        "wider",
        "required",
        keyword_value(before, "required"),
        keyword_value(after, "required"),
        f"{name!r} can be left out now; it was required before",
        admitted=partial(_without, after, name),
    )


def _other_keys(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    yield from _patterns(before, after, compare)
    keyword = "additionalProperties"
    old, new = before.additional, after.additional
    if before.is_closed or after.is_closed:
        if before.is_closed != after.is_closed:
            yield _opened(before, after)
    elif old is not None or new is not None:
        anything = (node.view.node({}) for node in (before, after))
        pair = [node or empty for node, empty in zip((old, new), anything, strict=True)]
        for each in compare(pair[0], pair[1]):
            yield each.inside(keyword, "*", partial(_put, before, _KEY), partial(_put, after, _KEY))


def _opened(before: Node, after: Node) -> Difference:
    keyword = "additionalProperties"
    texts = keyword_value(before, keyword), keyword_value(after, keyword)
    if before.is_closed:
        text = "keys that are not declared are allowed now"
        return difference("new", keyword, *texts, text)

    def another() -> list[Any]:
        inner = before.additional
        return [_put(before, _KEY, "a" if inner is None else example_of(inner))]

    text = "keys that are not declared were allowed, and are refused now"
    return difference("narrower", keyword, *texts, text, refused=another)


def _patterns(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    old, new = before.patterns, after.patterns
    for pattern in {**old, **new}:
        step, name = f"patternProperties/{pattern}", f"<{clip(pattern)}>"
        wholes = [partial(_put_matching, node, pattern) for node in (before, after)]
        if pattern in old and pattern in new:
            for each in compare(old[pattern], new[pattern]):
                yield each.inside(step, name, *wholes)
            continue
        is_new = pattern in new
        effect: Effect = "narrower" if is_new else "wider"
        verb = "a rule for keys that match" if is_new else "no rule any more for keys that match"
        if before.is_closed and after.is_closed:
            effect = "wider" if is_new else "narrower"
        if _is_made_good(pattern, effect, before, after, compare):
            effect = "spelling"
        yield difference(
            effect,
            step,
            None if is_new else old[pattern].raw,
            new[pattern].raw if is_new else None,
            f"{verb} {pattern}",
            refused=partial(_matching, before, after, pattern),
            admitted=partial(_matching, after, before, pattern),
        )


def _is_made_good(
    pattern: str, effect: Effect, before: Node, after: Node, compare: Compare
) -> bool:
    """Tell whether another pattern does the same as *pattern*, so that its change has no effect.

    The other pattern must match all these keys. If keys without a rule are refused, the other
    pattern must allow at least the values that *pattern* allows. If keys without a rule are
    allowed, the other pattern must allow at most these values.
    """
    is_dropped = pattern in before.patterns
    side, other = (before, after) if is_dropped else (after, before)
    node = side.patterns[pattern]
    lost = REFUSES if effect == "narrower" else ADMITS
    for name, known in other.patterns.items():
        pair = (node, known) if is_dropped else (known, node)
        if is_within(pattern, name) and not any(each.effect in lost for each in compare(*pair)):
            return True
    return False


def _matching(source: Node, other: Node, pattern: str) -> Iterator[Any]:
    """Yield objects of *source* with a key that matches *pattern* in *source* or *other*."""
    rules = [n.patterns[pattern] for n in (source, other) if pattern in n.patterns]
    values = [example_of(rule) for rule in rules]
    values += [value for rule in rules for value in others(set(rule.types))]
    for key in _keys(source, other, pattern):
        yield from ({**_base(source), key: value} for value in values)


def _keys(source: Node, other: Node, pattern: str) -> Iterator[str]:
    """Yield keys that match *pattern*. Keys that a pattern of *other* does not match come first."""
    for excluded in other.patterns:
        with suppress(UndecidedError):
            key = text_beyond(pattern, excluded)
            if key is not None:
                yield key
    yield from texts_matching(pattern)


def _put_matching(node: Node, pattern: str, value: Any) -> Any:
    key = next(texts_matching(pattern), pattern)
    return _put(node, key, value)


def _with_keys(node: Node, count: int) -> dict[str, Any]:
    value = dict(_base(node))
    for name in node.properties:
        if len(value) < count and name not in value:
            value[name] = example_of(node.properties[name])
    while len(value) < min(count, 200):
        inner = node.additional
        value[f"key{len(value)}"] = "a" if inner is None else example_of(inner)
    return value


# --- lists ------------------------------------------------------------------------------


def array_parts(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    """Yield the differences between two schemas of lists: their items and their lengths."""
    firsts = before.prefix_items, after.prefix_items
    for index in range(max(map(len, firsts))):
        has_item = [_takes(node, index) for node in (before, after)]
        if not all(has_item):
            if any(has_item):
                yield _item_difference(before, after, index)
            continue
        old, new = (_item(node, index) for node in (before, after))
        for each in compare(old, new):
            yield each.inside(
                f"prefixItems/{index}",
                f"[{index}]",
                partial(_put_item, before, index),
                partial(_put_item, after, index),
            )
    yield from _rest(before, after, compare)
    yield from list_limits(before, after, _so_many)


def _takes(node: Node, index: int) -> bool:
    """Tell whether a list that fits *node* may have an item at *index*."""
    most = node.limit("maxItems")
    if most is not None and index >= most:
        return False
    return index < len(node.prefix_items) or keyword_value(node, "items") is not False


def _item_difference(before: Node, after: Node, index: int) -> Difference:
    """Return the difference for an item at *index*, which only one of the two schemas allows."""
    is_narrower = _takes(before, index)
    verb = "was allowed, and is not now" if is_narrower else "is allowed now"
    return difference(
        "narrower" if is_narrower else "wider",
        "items",
        keyword_value(before, "items"),
        keyword_value(after, "items"),
        f"item {index + 1} {verb}",
        refused=lambda: [_so_many(before, index + 1)],
        admitted=lambda: [_so_many(after, index + 1)],
    )


def _rest(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    index = max(len(before.prefix_items), len(after.prefix_items))
    has_item = [_takes(node, index) for node in (before, after)]
    if not all(has_item):
        closed = [keyword_value(node, "items") is False for node in (before, after)]
        if any(has_item) and closed[0] != closed[1]:
            yield _item_difference(before, after, index)
        return
    old, new = (node.items or node.view.node(_ANYTHING) for node in (before, after))
    for each in compare(old, new):
        yield each.inside(
            "items",
            "[]",
            partial(_put_item, before, index),
            partial(_put_item, after, index),
        )


_ANYTHING: dict[str, Any] = {}


def _item(node: Node, index: int) -> Node:
    places = node.prefix_items
    if index < len(places):
        return places[index]
    return node.items or node.view.node(_ANYTHING)


def _put_item(node: Node, index: int, value: Any) -> Any:
    example = example_of(node)
    items = list(example) if isinstance(example, list) else []
    while len(items) <= index:
        items.append(example_of(_item(node, len(items))))
    items[index] = value
    is_place = index < len(node.prefix_items)
    if not is_place and keyword_value(node, "uniqueItems") is not True:
        items[index:] = [value] * len(items[index:])
    return items


def _so_many(node: Node, count: int) -> list[Any]:
    return [example_of(_item(node, n)) for n in range(min(count, 200))] + (
        [example_of(_item(node, count))] * max(0, count - 200)
    )
