"""Remove the nulls that models write in place of optional properties without a value."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from toolbench.jsonschema.normal import Node

# Levels to search
_DEEPEST = 100
# Nulls to try
_MOST_TRIED = 50

Path = tuple[str | int, ...]


def holds_null(value: Any) -> bool:
    """Tell whether null is anywhere inside *value*."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item is None:
            return True
        waiting.extend(_parts(item))
    return False


def without_nulls(node: Node, value: Any, refused: Collection[Path], path: Path = ()) -> Any:
    """Return *value* without the nulls of optional properties that must not be null.

    Objects and lists inside *value* are searched too.

    Args:
        node: The node for *value*.
        value: A JSON value; it is not changed.
        refused: The paths of the parts of *value* that a validator refused.
        path: The path of *value* itself.
    """
    if len(path) > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {
            name: without_nulls(node.at(name), item, refused, (*path, name))
            for name, item in value.items()
            if item is not None or not _may_go(node, name, is_refused=(*path, name) in refused)
        }
    if isinstance(value, list):
        return [
            without_nulls(node.at(index), item, refused, (*path, index))
            for index, item in enumerate(value)
        ]
    return value


def without_refused_nulls(node: Node, value: Any, is_valid: Callable[[Any], bool]) -> Any:
    """Return *value* without the nulls that make it invalid.

    Use this for a schema with alternatives: the whole value decides which alternative applies, so
    no null can be judged alone. All nulls of the properties of *node* are removed first; then each
    null that does not make the value invalid is put back. *value* is returned unchanged if it is
    valid, if it is still invalid without these nulls, or if it has more than fifty of them.
    """
    paths = list(islice(_null_paths(node, value), _MOST_TRIED + 1))
    if is_valid(value) or not paths or len(paths) > _MOST_TRIED:
        return value
    left_out = set(paths)
    if not is_valid(_without(value, left_out)):
        return value
    # Keep each null that may stay
    for path in paths:
        if is_valid(_without(value, left_out - {path})):
            left_out.discard(path)
    return _without(value, left_out)


def _null_paths(node: Node, value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each null in *value* that is the value of a property in *node*."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if item is not None:
                yield from _null_paths(node.at(name), item, (*path, name))
            elif name in node.names:
                yield (*path, name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _null_paths(node.at(index), item, (*path, index))


def _without(value: Any, left_out: Collection[Path], path: Path = ()) -> Any:
    if len(path) > _DEEPEST:
        return value
    if isinstance(value, Mapping):
        return {
            name: _without(item, left_out, (*path, name))
            for name, item in value.items()
            if (*path, name) not in left_out
        }
    if isinstance(value, list):
        items = enumerate(value)
        return [_without(item, left_out, (*path, index)) for index, item in items]
    return value


def _may_go(node: Node, name: str, *, is_refused: bool) -> bool:
    """Tell whether the property *name* may be left out instead of being null.

    Return True if every alternative with *name* makes it optional and refuses null. *is_refused*
    means that a validator has already refused the null.
    """
    holders = [one for one in node.alternatives if name in one.declared]
    return bool(holders) and all(
        name not in one.required and (is_refused or not one.declared[name].fits(None))
        for one in holders
    )


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()
