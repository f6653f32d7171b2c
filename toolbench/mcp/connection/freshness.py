"""Keep answers of a server while they are fresh, so that requests are not repeated.

Answers are kept in the memory of one session, until its connection ends. So no answer is shared
between sessions, neither `private` nor `public` ones. Source: MCP specification 2026-07-28,
`CacheableResult`.
"""

from collections.abc import Mapping
from copy import deepcopy
from time import monotonic
from typing import Any

LEAST = 1.0
"""The fewest seconds between two requests for a list, even if its `ttlMs` is shorter."""
# Seconds, as in the SDK
_LONGEST = 24 * 60 * 60.0
# Answers that are kept
_MOST_READS = 100


def lifetime_of(answer: Mapping[str, Any]) -> float | None:
    """Return the seconds for which *answer* is fresh; None if it has no positive `ttlMs`."""
    milliseconds = answer.get("ttlMs")
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    # NaN too
    if not milliseconds > 0:
        return None
    return min(milliseconds, _LONGEST * 1000) / 1000


class Freshness:
    """How long one answer of a server is fresh."""

    def __init__(self, seconds: float | None = None) -> None:
        """Let the time begin now; it lasts *seconds*, or without an end if *seconds* is None."""
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self._end is not None and monotonic() >= self._end


class FreshReads:
    """The fresh answers of a server to requests that read a resource, by the URI of the resource."""

    def __init__(self) -> None:
        """Make an empty store."""
        self._answers: dict[str, tuple[Freshness, dict[str, Any]]] = {}
        self.changes = 0
        """The number of times that `end` was called."""

    def get(self, uri: str) -> dict[str, Any] | None:
        """Return a copy of the answer for *uri*; None if there is no fresh answer."""
        freshness, answer = self._answers.get(uri, (None, None))
        if freshness is None or freshness.is_over:
            self._answers.pop(uri, None)
            return None
        return deepcopy(answer)

    def keep(self, uri: str, answer: dict[str, Any]) -> None:
        """Keep *answer* for *uri* as long as its `ttlMs` says; without `ttlMs`, do not keep it."""
        self._answers.pop(uri, None)
        seconds = lifetime_of(answer)
        if seconds is None:
            return
        while len(self._answers) >= _MOST_READS:
            del self._answers[next(iter(self._answers))]
        self._answers[uri] = Freshness(seconds), deepcopy(answer)

    def end(self, changed: str | None = None) -> None:
        """Remove the answers for the URI *changed*, and for URIs above or below it; None removes all.

        A URI is below another if it begins with the other.
        """
        self.changes += 1
        for uri in list(self._answers):
            if changed is None or uri.startswith(changed) or changed.startswith(uri):
                self._answers.pop(uri, None)
