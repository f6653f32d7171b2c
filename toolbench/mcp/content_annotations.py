"""Read a server's annotations of a content block: its audience and its priority.

Source: MCP specification, `Annotations`.
"""

from collections.abc import Mapping
from math import isnan
from typing import Any, Literal

Reader = Literal["user", "assistant"]
# A block without a priority is neither required nor optional
_BETWEEN = 0.5


def is_for(block: Mapping[str, Any], reader: Reader) -> bool:
    """Tell whether *block* is for *reader*; without a valid audience it is for all readers."""
    audience = _annotations(block).get("audience")
    if not isinstance(audience, list):
        return True
    readers = {role for role in audience if role in ("user", "assistant")}
    return not readers or reader in readers


def priority_of(block: Mapping[str, Any]) -> float:
    """Return the priority of *block*, from 1 (required) to 0 (optional); 0.5 if it is invalid."""
    priority = _annotations(block).get("priority")
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        return _BETWEEN
    if isnan(priority) or not 0 <= priority <= 1:
        return _BETWEEN
    return float(priority)


def _annotations(block: Mapping[str, Any]) -> Mapping[str, Any]:
    annotations = block.get("annotations")
    return annotations if isinstance(annotations, Mapping) else {}
