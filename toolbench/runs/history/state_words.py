"""The words and the colour for people about the state of a run, in place of the codes of `Run.state`."""

from typing import TYPE_CHECKING

from toolbench.core.schema import Observation
from toolbench.display.page import Tone

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
_TONES: dict[str, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}


def state_words(state: str, outcome: Observation | None = None) -> str:
    """Return the words for *state*; an unknown state, perhaps of an old journal, is returned unchanged.

    *outcome* is the result of a run that has ended: a server's tool may return something else than it
    declares.
    """
    words: dict[str, str] = dict(STATE_WORDS.items())
    remark = ", not as declared" if _is_broken(state, outcome) else ""
    return words.get(state, state) + remark


def state_tone(state: str, outcome: Observation | None = None) -> Tone:
    """Return the colour for *state*; *outcome* is as in `state_words`."""
    if _is_broken(state, outcome):
        return "warning"
    return _TONES.get(state, "neutral")


def _is_broken(state: str, outcome: Observation | None) -> bool:
    """Tell whether a run that succeeded has a result which its tool does not declare."""
    return state == "ok" and not getattr(outcome, "_is_as_declared", True)
