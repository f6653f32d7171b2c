"""How a run stands or ended, in the words people read everywhere; `state` keeps its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolbench.runs.run import State

STATE_WORDS: "dict[State, str]" = {
    "new": "",
    "running": "running",
    "waiting": "waiting for an answer",
    "stopping": "stopping…",
    "ok": "succeeded",
    "error": "failed",
    "cancelled": "cancelled",
    "denied": "declined",
}


def state_words(state: str) -> str:
    """Return the words for *state*; one that is not known, as an old journal may have, is its own."""
    words: dict[str, str] = dict(STATE_WORDS.items())
    return words.get(state, state)
