"""Detect a model that repeats the same call again and again."""

import json
from typing import Any

from toolbench.llm.calls.tool_call import ToolCall

_LIMIT = 3


class Repeats:
    """A count of how often the same call was made in a row."""

    def __init__(self) -> None:
        """Start without calls."""
        self._last = ""
        self._times = 0
        self.is_stuck = False
        """Whether a call was made three times in a row."""

    def clear(self) -> None:
        """Start counting from zero, when the person lets the model go on."""
        self._last, self._times, self.is_stuck = "", 0, False

    def is_third(self, call: ToolCall) -> bool:
        """Count *call*; tell whether the same call was made at least three times in a row."""
        key = _key(call)
        self._times = self._times + 1 if key == self._last else 1
        self._last = key
        is_third = self._times >= _LIMIT
        self.is_stuck = self.is_stuck or is_third
        return is_third


def _key(call: ToolCall) -> str:
    parts: list[Any] = [call.name, call.arguments]
    if call.error is not None:  # arguments that could not be read are empty
        parts.append(str(call.error))
    return json.dumps(parts, sort_keys=True, default=str)
