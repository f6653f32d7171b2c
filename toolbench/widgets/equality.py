"""Tell whether two JSON values are the same text: `true` is not `1`, and `1` is not `1.0`."""

from typing import Any


def same(left: Any, right: Any) -> bool:
    """Compare two JSON values strictly: types, numbers as written, and key order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(
            same(item, right[key]) for key, item in left.items()
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)  # nan is itself, -0.0 is not 0.0
    return bool(left == right)
