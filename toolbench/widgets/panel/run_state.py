"""Show the state of a run as a badge, and the limits of runs without threads."""

from typing import Any, get_args

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.html.css import REMARK
from toolbench.display.page import Tone, badge
from toolbench.runs.history.state_words import STATE_WORDS
from toolbench.runs.run import State
from toolbench.threads import NO_THREADS, have_threads

_TONES: dict[State, Tone] = {"ok": "success", "error": "danger", "denied": "warning"}


def state_badge(name: str) -> Html:
    """Return the state *name* as a badge; empty for a run that has not begun."""
    for state in get_args(State):
        if state == name and STATE_WORDS[state]:
            return badge(STATE_WORDS[state], _TONES.get(state, "neutral"))
    return Html("")


def limits_html(tool: ToolDefinition[Any, Any]) -> Html:
    """Return a sentence about what a run of *tool* cannot do without threads.

    Return an empty text if this Python has threads, or if *tool* is async.
    """
    if have_threads() or tool.is_async:
        return Html("")
    text = (
        "A run cannot be cancelled, limited in time, or ask a question while it goes on: "
        f"{NO_THREADS}. An async tool can."
    )
    return Html(f'<div style="{REMARK}">{escape(text)}</div>')
