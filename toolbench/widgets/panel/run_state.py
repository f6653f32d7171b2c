"""Show the state of a run as a badge, and the limits of runs without threads."""

from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.page import badge
from toolbench.runs.record import state_tone, state_words
from toolbench.threads import NO_THREADS, have_threads


def state_badge(state: str, outcome: Observation) -> Html:
    """Return *state* as a badge; empty for a run that has not begun.

    *outcome* is the result of the run, empty before its end.
    """
    if not state_words(state):
        return Html("")
    return badge(state_words(state, outcome), state_tone(state, outcome))


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
