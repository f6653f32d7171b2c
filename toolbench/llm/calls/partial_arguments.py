"""Put together the arguments that Gemini streams value by value (`partialArgs`).

Source: google-genai, `types.PartialArg`.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

_STEP = re.compile(r"""\.([^.\[\]]+) | \['((?:[^'\\]|\\.)*)'\] | \[(\d+)\]""", re.VERBOSE)
_VALUES = ("string", "number", "bool")
# Items in a list that a path may create
_LONGEST = 10_000


def put(arguments: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Put the value of *piece* into *arguments* at the path of *piece*.

    If both the old and the new value are texts, the new text is added to the old text.
    """
    steps = [
        int(match[3]) if match[3] else match[1] or re.sub(r"\\(.)", r"\1", match[2])
        for match in _STEP.finditer(str(piece.get("jsonPath") or piece.get("json_path") or ""))
    ]
    if not steps or not isinstance(steps[0], str):
        return
    holder: Any = arguments
    for step, following in pairwise(steps):
        holder = _inside(holder, step, [] if isinstance(following, int) else {})
    last, value = steps[-1], _value(piece)
    if not _has_room(holder, last):
        return
    before = holder[last] if isinstance(last, int) else holder.get(last)
    if isinstance(before, str) and isinstance(value, str):
        value = before + value
    holder[last] = value


def _value(piece: Mapping[str, Any]) -> Any:
    for kind in _VALUES:
        value = piece.get(f"{kind}Value", piece.get(f"{kind}_value"))
        if value is not None:
            return value
    return None


def _inside(holder: Any, step: str | int, new: Any) -> Any:
    """Return the value at *step* of *holder*; if there is none, put *new* there and return it.

    Return None if *holder* cannot hold a value at *step*.
    """
    if not _has_room(holder, step):
        return None
    if isinstance(step, int):
        holder[step] = new if holder[step] is None else holder[step]
        return holder[step]
    return holder.setdefault(step, new)


def _has_room(holder: Any, step: str | int) -> bool:
    """Return whether *holder* can hold a value at *step*; if *holder* is a list, extend it."""
    if isinstance(step, str):
        return isinstance(holder, dict)
    if not isinstance(holder, list) or step >= _LONGEST:
        return False
    holder += [None] * (step + 1 - len(holder))
    return True
