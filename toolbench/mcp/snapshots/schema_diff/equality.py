"""Compare two values as JSON: true is not 1, and the order of keys does not count."""

from json import dumps
from typing import Any

from pydantic_core import PydanticSerializationError, to_json


def quick_text(value: Any) -> bytes | None:
    """Return *value* as JSON with its keys in their own order; None if *value* cannot be JSON."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return None


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same in JSON."""
    if one is other:
        return True
    text = quick_text(one)
    if text is not None and text == quick_text(other):
        return True
    try:
        return one == other and _sorted(one) == _sorted(other)
    except (TypeError, ValueError, RecursionError):
        return False


def _sorted(value: Any) -> str:
    return dumps(value, sort_keys=True)
