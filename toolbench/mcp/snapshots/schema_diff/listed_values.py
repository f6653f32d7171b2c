"""Compare the values that schemas list: one value in `const`, or several in `enum`."""

from collections.abc import Iterator
from itertools import chain
from json import dumps
from typing import Any

from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.node import Node
from toolbench.mcp.snapshots.schema_diff.difference import (
    Difference,
    Effect,
    difference,
)
from toolbench.mcp.snapshots.schema_diff.examples import (
    example_of,
    numbers_of,
    texts_of,
)
from toolbench.values import clip
from toolbench.wording import counted

# Values that a sentence names
_MAX_VALUES = 5


def compare_listed(before: Node, after: Node) -> Iterator[Difference]:
    """Yield the differences between two schemas, of which at least one lists its values."""
    old, new = before.values, after.values
    constants = [node.is_constant for node in (before, after) if node.values]
    keyword = "const" if all(constants) else "enum"
    lost, come = _refused(after, old), _refused(before, new)
    narrower = bool(lost) if old else _is_wider_than(before, new)
    wider = bool(come) if new else _is_wider_than(after, old)
    if not narrower and not wider:
        if _texts(old) != _texts(new) and old and new:
            text = "the same values are listed in another order"
            yield difference("spelling", keyword, old, new, text)
        return
    effect: Effect = "narrower" if narrower else "wider"
    yield difference(
        "different" if narrower and wider else effect,
        keyword,
        old or None,
        new or None,
        _text(before, after, lost, come),
        refused=lambda: lost or _some(before),
        admitted=lambda: come or _some(after),
    )


def _refused(node: Node, values: list[Any]) -> list[Any]:
    """Return the *values* that do not fit *node*."""
    if node.values:
        known = set(_texts(node.values))
        return [value for value in values if _text_of(value) not in known]
    return [value for value in values if not node.fits(value)]


def _is_wider_than(node: Node, values: list[Any]) -> bool:
    """Tell whether *node*, which lists no values, accepts more than *values*."""
    if node.type == "null":
        return None not in values
    if node.type == "boolean":
        return not {True, False} <= {v for v in values if isinstance(v, bool)}
    return True


def _some(node: Node) -> list[Any]:
    match node.type:
        case "string":
            return [*chain(["toolbench"], texts_of(node))]
        case "integer" | "number":
            return [*numbers_of(node), 987654321]
        case "boolean":
            return [True, False]
    return [example_of(node)]


def _text(before: Node, after: Node, lost: list[Any], come: list[Any]) -> str:
    if before.values and after.values:
        parts = [
            f"{_values(values)} {'is' if len(values) == 1 else 'are'} {verb}"
            for values, verb in ((lost, "no longer allowed"), (come, "allowed now"))
            if values
        ]
        total = f"{counted(len(before.values), 'value')} before, {len(after.values)} now"
        return f"{' and '.join(parts)} ({total})"
    return f"{kind_of(before)} before, {kind_of(after)} now"


def _values(values: list[Any]) -> str:
    text = ", ".join(clip(value) for value in values[:_MAX_VALUES])
    more = len(values) - _MAX_VALUES
    return f"{text} and {more} more" if more > 0 else text


def _texts(values: list[Any]) -> list[str]:
    return [_text_of(value) for value in values]


def _text_of(value: Any) -> str:
    """Return *value* as JSON: 1 and 1.0 have the same text, and true has another one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return dumps(value, sort_keys=True, default=str)
