"""The state of a task, read from a server's message in either protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self

from toolbench.mcp.errors import CallFailedError
from toolbench.values import clip

ENDED = frozenset({"completed", "failed", "cancelled"})
"""The states that a task does not leave."""
_STATES = ENDED | {"working", "input_required"}
# The most seconds between two requests for the state, if the server names no time
_ASKING = 1.0
# The fewest and the most seconds between two requests, whatever the server asks for.
_SHORTEST, _LONGEST = 0.05, 600.0
_WORDS = {"input_required": "waits for an answer"}


@dataclass(frozen=True)
class TaskState:
    """The state of one task. Source: MCP, tasks of 2025-11-25 and SEP-2663."""

    id: str
    status: str
    """`working`, `input_required`, `completed`, `failed` or `cancelled`."""
    message: str
    """The server's message about the state; it may be empty."""
    created: str
    updated: str
    ttl: float | None
    """The seconds that the server keeps the task from its start; None if the server does not tell."""
    interval: float | None
    """The seconds between two requests for the state; None if the server does not tell."""
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        """Return the state in *raw*, a message of the server.

        Raises:
            CallFailedError: If the task has no id, or no state that MCP defines: a wait for the
                end of this task would never end.
        """
        identity, status = raw.get("taskId"), raw.get("status")
        if not isinstance(identity, str) or not identity:
            msg = f"The server started a task without a taskId: {clip(dict(raw), 200)}."
            raise CallFailedError(msg)
        if not isinstance(status, str):
            msg = f"The server gave task {clip(identity)} no state: {clip(dict(raw), 200)}."
            raise CallFailedError(msg)
        if status not in _STATES:
            msg = f"The server gave task {clip(identity)} the state {clip(status)}, which is not one of MCP."
            raise CallFailedError(msg)
        return cls(
            id=identity,
            status=status,
            message=_text(raw, "statusMessage"),
            created=_text(raw, "createdAt"),
            updated=_text(raw, "lastUpdatedAt"),
            ttl=_seconds(raw, "ttlMs", "ttl"),
            interval=_seconds(raw, "pollIntervalMs", "pollInterval"),
            raw=raw,
        )

    @property
    def has_ended(self) -> bool:
        """Whether the task has ended, so that it cannot change any more."""
        return self.status in ENDED

    @property
    def pause(self) -> float:
        """The longest pause in seconds before the next request for the state."""
        return min(max(self.interval or _ASKING, _SHORTEST), _LONGEST)

    @property
    def words(self) -> str:
        """The state in a few words, for the panel of the run."""
        state = _WORDS.get(self.status, self.status.replace("_", " "))
        parts = [f"task {state}", self.message]
        if not self.has_ended:
            often = "at least every" if self.interval is None else "every"
            parts.append(f"asked {often} {self.pause:.3g} s")
        return " · ".join(filter(None, parts))


def started_task(result: Mapping[str, Any]) -> TaskState | None:
    """Return the task that *result*, the answer to a tool call, starts; None if it starts no task.

    Raises:
        CallFailedError: If the task has no id, or no state that MCP defines.
    """
    nested = result.get("task")
    if isinstance(nested, Mapping) and "content" not in result:
        return TaskState.of(nested)
    return TaskState.of(result) if result.get("resultType") == "task" else None


def wants_task(tool: Mapping[str, Any], capabilities: Mapping[str, Any]) -> bool:
    """Tell whether to request a task for a call of *tool* in the older protocol.

    The tool must allow or require a task, and the server must declare tasks. In the newer protocol
    the server decides.
    """
    execution = tool.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, Mapping) else None
    place: Any = capabilities
    for key in ("tasks", "requests", "tools", "call"):
        place = place.get(key) if isinstance(place, Mapping) else None
    return support in ("optional", "required") and place is not None


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _seconds(raw: Mapping[str, Any], *keys: str) -> float | None:
    """Return the first number in *raw* under one of *keys*, in seconds; *raw* has milliseconds."""
    for key in keys:
        value = raw.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                seconds = float(value) / 1000
            except OverflowError:
                # A JSON number has no largest value
                return None
            return seconds if isfinite(seconds) and seconds > 0 else None
    return None
