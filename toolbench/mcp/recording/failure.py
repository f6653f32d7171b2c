"""Repeat a recorded failure in a replay, with the same text."""

from collections.abc import Mapping
from typing import Any

NOT_RECORDED = -32004
"""The code of the error for a request that is not in the recording."""
CUT_OFF = "The recording ended before the server answered."
CANCELLED = "In the recording this call was cancelled before the server answered."
_FAILED_THEN = -32005
_KEY = "toolbench.failure"


class RecordedFailureError(ConnectionError):
    """In the recording, no connection could be opened; the message says why."""


def failure_error(failure: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON-RPC error for a recorded *failure*."""
    text = str(failure.get("text"))
    asides = failure.get("asides")
    details = {"text": text, "asides": asides if isinstance(asides, list) else []}
    return {"code": _FAILED_THEN, "message": text, "data": {_KEY: details}}


def recorded_failure(error: BaseException) -> tuple[str, tuple[str, ...]] | None:
    """Return the text and the asides, if *error* repeats a recorded failure; None for other errors."""
    data = getattr(error, "data", None)
    details = data.get(_KEY) if isinstance(data, Mapping) else None
    if not isinstance(details, Mapping):
        return None
    return str(details.get("text")), tuple(map(str, details.get("asides") or ()))
