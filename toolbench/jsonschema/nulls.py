"""Leave out the nulls that models write for optional properties they have no value for."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from toolbench.jsonschema.normal import Node

_DEEPEST = 100  # levels that are looked into

Path = tuple[str | int, ...]


def holds_null(value: Any) -> bool:
    """Tell whether null is anywhere in *value*."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item is None:
            return True
        waiting.extend(_parts(item))
    return False


def without_nulls(
    node: Node, value: Any, refused: Collection[Path], path: Path = ()
) -> Any:
    """Return *value* without the nulls of optional properties that cannot be null, at any depth.

    Args:
        node: What *value* may be.
        value: JSON; it is not changed.
        refused: The paths in *value* that a validator refused.
        path: Where *value* stands.
    """
    if len(path) > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {
            name: without_nulls(node.at(name), item, refused, (*path, name))
            for name, item in value.items()
            if item is not None
            or not _may_go(node, name, is_refused=(*path, name) in refused)
        }
    if isinstance(value, list):
        return [
            without_nulls(node.at(index), item, refused, (*path, index))
            for index, item in enumerate(value)
        ]
    return value


def _may_go(node: Node, name: str, *, is_refused: bool) -> bool:
    """Tell whether *name* is optional in every alternative that has it, and null in none."""
    holders = [one for one in node.alternatives if name in one.declared]
    return bool(holders) and all(
        name not in one.required and (is_refused or not one.declared[name].fits(None))
        for one in holders
    )


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
