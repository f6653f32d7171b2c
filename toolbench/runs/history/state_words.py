"""The words for people about the state of a run, in place of the codes of `Run.state`."""

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
    """Return the words for *state*; an unknown state, perhaps of an old journal, is returned unchanged."""
    words: dict[str, str] = dict(STATE_WORDS.items())
    return words.get(state, state)
