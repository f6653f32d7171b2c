"""How long an answer of a server counts as fresh, so that it is not asked for again.

Answers are kept in the memory of one session only and end with its connection, so those of the
scope `private` are never shared; those of `public` are not either. Source: MCP specification
2026-07-28, `CacheableResult`.
"""

from collections.abc import Mapping
from copy import deepcopy
from time import monotonic
from typing import Any

LEAST = 1.0
"""The fewest seconds between two requests of a list that its `ttlMs` causes."""
_LONGEST = 24 * 60 * 60.0  # seconds, as in the SDK
_MOST_READS = 100  # answers that are kept


def lifetime_of(answer: Mapping[str, Any]) -> float | None:
    """Return the seconds for which *answer* is fresh; None if it gives no positive `ttlMs`."""
    milliseconds = answer.get("ttlMs")
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    if not milliseconds > 0:  # NaN too
        return None
    return min(milliseconds, _LONGEST * 1000) / 1000


class Freshness:
    """The time for which one answer is fresh."""

    def __init__(self, seconds: float | None = None) -> None:
        """Begin now; None means until something else ends it."""
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and monotonic() >= self._end


class FreshReads:
    """The answers to reads of resources that are still fresh, by URI."""

    def __init__(self) -> None:
        """Start with none."""
        self._answers: dict[str, tuple[Freshness, dict[str, Any]]] = {}
        self.changes = 0
        """How often something ended the freshness of answers."""

    def get(self, uri: str) -> dict[str, Any] | None:
        """Return a copy of the answer for *uri*; None if there is no fresh one."""
        freshness, answer = self._answers.get(uri, (None, None))
        if freshness is None or freshness.is_over:
            self._answers.pop(uri, None)
            return None
        return deepcopy(answer)

    def keep(self, uri: str, answer: dict[str, Any]) -> None:
        """Keep *answer* for *uri* as long as its own `ttlMs` says that it is fresh."""
        self._answers.pop(uri, None)
        seconds = lifetime_of(answer)
        if seconds is None:
            return
        while len(self._answers) >= _MOST_READS:
            del self._answers[next(iter(self._answers))]
        self._answers[uri] = Freshness(seconds), deepcopy(answer)

    def end(self, changed: str | None = None) -> None:
        """Forget the answers for the URI *changed* and URIs above or below it; None forgets all."""
        self.changes += 1
        for uri in list(self._answers):
            if changed is None or uri.startswith(changed) or changed.startswith(uri):
                self._answers.pop(uri, None)
