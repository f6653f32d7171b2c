"""Compare the conditions of two schemas: `not`, `if`, `contains`, dependencies and others."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import (
    Difference,
    Effect,
    difference,
    keyword_value,
)
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.mcp.snapshots.schema_diff.sample_values import samples
from toolbench.values import clip

Compare = Callable[[Node, Node], list[Difference]]
_REVERSED = frozenset({"not"})
"""Keywords that accept more values if their inner schema accepts fewer."""
_SCHEMAS = (
    *("not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems", "additionalItems"),
)
_BY_NAME: Mapping[str, type | tuple[type, ...]] = {
    "dependentSchemas": (dict, bool),
    "dependentRequired": list,
}
"""Keywords with conditions for objects that have a key; for each, the type that such a condition
has in the older `dependencies`."""
_COUNTS = ("minContains", "maxContains")
_NEUTRAL = frozenset({"guidance", "spelling"})
# Values of one schema that are tried
_MOST = 12
# Inner differences that a sentence names
_MOST_NAMED = 2


def condition_changes(before: Node, after: Node, compare: Compare) -> Iterator[Difference]:
    """Yield the differences between the conditions of two schemas; *compare* compares inner schemas."""
    for keyword in (*_SCHEMAS, *_BY_NAME, *_COUNTS):
        old, new = _condition(before, keyword), _condition(after, keyword)
        if same(old, new) or not _says_something(keyword, before, after):
            continue
        inner = _inner(keyword, before, after, compare)
        if inner is None:
            effect = _by_presence(old, new)
        elif inner := [d for d in inner if d.effect not in _NEUTRAL]:
            effect = _combined(keyword, inner, before, after)
        else:
            # Only written differently
            continue
        verb = (
            {"narrower": "added", "wider": "dropped"}[effect]
            if (inner is None and effect != "different")
            else "changed"
        )
        text = f"the condition {keyword!r} was {verb}{_why(inner)}"
        yield difference(
            effect,
            keyword,
            old,
            new,
            text,
            refused=partial(_values, before, after),
            admitted=partial(_values, after, before),
        )


def _condition(node: Node, keyword: str) -> Any:
    """Return the value of *keyword* in *node*, with added parts of the older `dependencies`."""
    own, older = keyword_value(node, keyword), keyword_value(node, "dependencies")
    if keyword not in _BY_NAME or not isinstance(older, dict):
        return own
    kind = _BY_NAME[keyword]
    moved = {name: part for name, part in older.items() if isinstance(part, kind)}
    return {**moved, **(own if isinstance(own, dict) else {})} or own


def _says_something(keyword: str, before: Node, after: Node) -> bool:
    """Tell whether to compare *keyword*: whether it can have an effect in both schemas.

    `then` and `else` need `if` on both sides. `additionalItems` needs `prefixItems` on both sides.
    """
    if keyword in ("then", "else"):
        return all("if" in node.schema for node in (before, after))
    if keyword == "additionalItems":
        return bool(before.prefix_items and after.prefix_items)
    return True


def _inner(keyword: str, before: Node, after: Node, compare: Compare) -> list[Difference] | None:
    """Return the differences inside the condition *keyword*; None if they cannot be compared."""
    old, new = _condition(before, keyword), _condition(after, keyword)
    if keyword in _SCHEMAS:
        if not isinstance(old, dict | bool) or not isinstance(new, dict | bool):
            return None
        return _compared(before.view.node(old), after.view.node(new), compare)
    if keyword in _BY_NAME and isinstance(old, dict) and isinstance(new, dict):
        return [
            inner
            for name in {**old, **new}
            for inner in _of_name(before, after, name, (old, new), compare)
        ]
    if keyword in _COUNTS and old is not None and new is not None:
        is_more = old < new
        effect: Effect = "narrower" if is_more == (keyword == "minContains") else "wider"
        return [difference(effect, keyword, old, new, f"{old} before, {new} now")]
    return None


def _of_name(
    before: Node,
    after: Node,
    name: str,
    conditions: tuple[Mapping[str, Any], Mapping[str, Any]],
    compare: Compare,
) -> list[Difference]:
    """Return the differences in what two schemas require of an object that has the key *name*.

    *conditions* are the old and the new value of the keyword: each maps a key to its condition.
    """
    one, other = (by_name.get(name, []) for by_name in conditions)
    if isinstance(one, list) and isinstance(other, list):
        lost = (key for key in one if key not in other)
        come = (key for key in other if key not in one)
        return [
            *(_key_change("wider", name, key, "is not needed any more") for key in lost),
            *(_key_change("narrower", name, key, "is needed now") for key in come),
        ]
    old = before.view.node(_as_schema(one))
    new = after.view.node(_as_schema(other))
    differences = _compared(old, new, compare)
    return [each.inside(name, name, _itself, _itself) for each in differences]


def _key_change(effect: Effect, name: str, key: Any, verb: str) -> Difference:
    text = f"{clip(key)} {verb} beside {clip(name)}"
    return difference(effect, name, None, None, text)


def _compared(old: Node, new: Node, compare: Compare) -> list[Difference]:
    """Return the differences between the conditions *old* and *new*.

    An open object may have a key that its schema does not declare. So a removed declaration allows
    more values, and a new declaration allows fewer values.
    """
    by_letter: Mapping[Effect, Effect] = {"gone": "wider", "new": "narrower"}
    is_open = not (old.is_closed or new.is_closed)
    return [
        replace(each, effect=by_letter.get(each.effect, each.effect))
        if is_open and each.where.count("/") <= 1
        else each
        for each in compare(old, new)
    ]


def _as_schema(condition: Any) -> Any:
    return {"required": condition} if isinstance(condition, list) else condition


def _itself(value: Any) -> Any:
    return value


def _by_presence(old: Any, new: Any) -> Effect:
    if old is None:
        return "narrower"
    return "wider" if new is None else "different"


def _combined(keyword: str, inner: list[Difference], before: Node, after: Node) -> Effect:
    """Return the effect that the *inner* differences of a condition have on the whole value."""
    loses = any(each.effect != "wider" for each in inner)
    gains = any(each.effect != "narrower" for each in inner)
    depends_on_if = keyword in ("then", "else") and not same(
        keyword_value(before, "if"), keyword_value(after, "if")
    )
    is_counted = keyword == "contains" and any(
        keyword_value(node, "maxContains") is not None for node in (before, after)
    )
    if keyword == "if" or depends_on_if or is_counted or loses == gains:
        return "different"
    return "narrower" if loses != (keyword in _REVERSED) else "wider"


def _why(inner: list[Difference] | None) -> str:
    if not inner:
        return ""
    texts = [f"{d.place}: {d.text}" if d.place else d.text for d in inner]
    return f" ({'; '.join(dict.fromkeys(texts[:_MOST_NAMED]))})"


# --- values to test conditions ------------------------------------------------------------


def _values(source: Node, other: Node) -> Iterator[Any]:
    """Yield values of *source* that test the conditions of *source* and *other*."""
    yield from islice(samples(source), _MOST)
    for node in (source, other):
        for parts in _cases(node):
            whole = source.view.node({"allOf": [source.raw, *parts]})
            yield from islice(samples(whole), _MOST)
        yield from _lists(source, node)
        yield from _named(source, node)


def _cases(node: Node) -> Iterator[list[Any]]:
    """Yield lists of schemas, one list for each case. A value of the case fits all its schemas."""
    condition, cases = (
        keyword_value(node, "if"),
        [keyword_value(node, k) for k in ("then", "else")],
    )
    for case in cases:
        yield [part for part in (condition, case) if isinstance(part, dict)]
    yield [part for part in cases[1:] if isinstance(part, dict)]
    if isinstance(excluded := keyword_value(node, "not"), dict):
        yield [excluded]
    for keyword in _BY_NAME:
        by_name = _condition(node, keyword)
        for name, inner in by_name.items() if isinstance(by_name, dict) else ():
            present = {"type": "object", "required": [name]}
            yield [present]
            if isinstance(part := _as_schema(inner), dict):
                yield [present, part]


def _lists(source: Node, node: Node) -> Iterator[Any]:
    """Yield lists with items that fit the schema of `contains`."""
    contained = keyword_value(node, "contains")
    if not isinstance(contained, dict):
        return
    counts = [keyword_value(n, keyword) for n in (source, node) for keyword in _COUNTS]
    sizes = {1, 2, *(n for n in counts if type(n) is int and 0 < n < 100)}
    rest = next((v for v in samples(source) if isinstance(v, list)), [])
    for item in islice(samples(node.view.node(contained)), _MOST):
        for size in sorted({*sizes, *(n + 1 for n in sizes)}):
            yield [item] * size
            yield [*rest, *[item] * size]


def _named(source: Node, node: Node) -> Iterator[Any]:
    """Yield objects with keys that test `propertyNames`."""
    if node.key_names is None:
        return
    base = next((v for v in samples(source) if isinstance(v, dict)), {})
    inner = source.additional
    values = ["a"] if inner is None else [*islice(samples(inner), 1)]
    names = {name for name in samples(node.key_names) if isinstance(name, str)}
    names |= {name * times for name in ("a", *names) for times in (4, 20)}
    for name in sorted(names, key=lambda name: (len(name), name)):
        for value in values:
            yield {**base, name: value}
