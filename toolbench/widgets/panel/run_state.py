"""Show the state of a run as a badge."""

from typing import get_args

from toolbench.display.escape import Html
from toolbench.display.page import Tone, badge
from toolbench.runs.history.state_words import STATE_WORDS
from toolbench.runs.run import State

_TONES: dict[State, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}


def state_badge(name: str) -> Html:
    """Return the state *name* as a badge; empty for a run that has not begun."""
    for state in get_args(State):
        if state == name and STATE_WORDS[state]:
            return badge(STATE_WORDS[state], _TONES.get(state, "neutral"))
    return Html("")
