"""The earlier runs of a tool as a table; with our JavaScript module its rows can be opened."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.display.css import CELL, CODE_FONT, LINE, TABLE, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import short
from toolbench.runs.record import RunRecord
from toolbench.values import clip
from toolbench.widgets.panel.run_state import state_badge

_HEADS = ("Time", "State", "Arguments", "Duration", "Source")
# Characters of one argument
_LONGEST = 60


def runs_table(records: Sequence[RunRecord], chosen: int = 0) -> Html:
    """Return *records* as a table, a row for each record; times are in the local time zone.

    Our JavaScript module marks the row with the number *chosen*.
    """
    heads = "".join(f'<th scope="col" style="{_side(h)}">{h}</th>' for h in _HEADS)
    rows = "".join(map(_row, records))
    return Html(
        f'<div {NO_MATHS} style="overflow:auto;max-height:16em" role="group" '
        f'aria-label="Runs" tabindex="0"><table data-toolbench-runs="{chosen}" style="{TABLE};{TEXT_FONT};font-size:12px;width:100%">'
        f'<thead style="border-bottom:{LINE}"><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(record: RunRecord) -> str:
    begun = record.started.astimezone()
    time = f'<time datetime="{record.started.isoformat()}">{begun:%H:%M:%S}</time>'
    cells = (
        time,
        state_badge(record.state, record.observation),
        short(arguments_text(record.arguments)),
        escape(record.time_taken),
        short(record.source),
    )
    row = zip(_HEADS, cells, strict=True)
    body = "".join(f'<td style="{_cell(head)}">{cell}</td>' for head, cell in row)
    return f'<tr data-toolbench-run="{escape(run_key(record))}">{body}</tr>'


def run_key(record: RunRecord) -> str:
    """Return the name by which the page tells *record* from all other runs."""
    session, number = record.key
    return f"{session} {number}"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return *arguments* on one line: `city = 'Paris', days = 3`."""
    pairs = (f"{name} = {clip(value, _LONGEST)}" for name, value in arguments.items())
    return " ".join(", ".join(pairs).split())


def _cell(head: str) -> str:
    if head == "Arguments":
        return f"{CELL};{CODE_FONT};font-size:12px;min-width:14em;overflow-wrap:anywhere"
    return _side(head)


def _side(head: str) -> str:
    side = ";text-align:right" if head == "Duration" else ""
    return f"{CELL}{side};white-space:nowrap"
