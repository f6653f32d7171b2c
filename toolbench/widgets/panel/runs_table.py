"""The earlier runs of a tool, which our JavaScript module draws as a table whose rows can be opened."""

from collections.abc import Mapping
from typing import Any

import ipywidgets as w
from traitlets import List, Unicode

from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.runs.record import RunRecord, state_tone, state_words
from toolbench.values import clip

# Characters of one argument
_LONGEST = 60
# Characters of a cell
_CELL = 200


class Runs(w.VBox):
    """What the page draws of the runs; it sends the key of the run that is picked."""

    rows: Any = List().tag(sync=True)
    """The rows, the newest run first; see `run_row`."""
    picked = Unicode().tag(sync=True)
    """The key of the run that is open; empty if none is."""


def run_row(record: RunRecord) -> list[str]:
    """Return the row of *record*: key, time, state and its colour, arguments, duration, source."""
    return [
        run_key(record),
        record.started.isoformat(),
        state_words(record.state, record.observation),
        state_tone(record.state, record.observation),
        shorten(visible(arguments_text(record.arguments)), _CELL),
        record.time_taken,
        shorten(visible(record.source), _CELL),
    ]


def run_key(record: RunRecord) -> str:
    """Return the name by which the page tells *record* from all other runs."""
    session, number = record.key
    return f"{session} {number}"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return *arguments* on one line: `city = 'Paris', days = 3`."""
    pairs = (f"{name} = {clip(value, _LONGEST)}" for name, value in arguments.items())
    return " ".join(", ".join(pairs).split())
