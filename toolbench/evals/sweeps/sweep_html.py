"""Write a sweep as HTML: its rows, returned pictures and tables, and errors."""

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from toolbench.display.css import LINE, REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.images import read_image
from toolbench.display.page import notice, section
from toolbench.display.tables import LATER, table_html
from toolbench.evals.reports.html_table import text_table
from toolbench.evals.reports.report_page import framed, scrolled
from toolbench.evals.sweeps.sweep_row import Row
from toolbench.values import clip
from toolbench.wording import counted, duration

if TYPE_CHECKING:
    from toolbench.evals.sweeps.sweep_report import SweepReport

# In a cell; the page draws more rows during scrolling
_ROWS = 50
_PAGE_ROWS = 10_000
_PICTURES = 24
_REASONS = 10


def sweep_html(report: "SweepReport", *, is_page: bool = False) -> Html:
    """Return *report* as HTML that needs no kernel.

    Args:
        report: The report.
        is_page: True writes the first 10,000 rows, for a page. False writes 50 rows, for a cell;
            further rows are drawn while a person scrolls.
    """
    facts = f"{counted(len(report), 'call')} in {duration(report.seconds)}"
    head = (
        f'<div style="border-bottom:{LINE};padding:0 0 6px;margin:0 0 10px"><strong>Sweep of '
        f'{escape(report.tool)}</strong> <span style="{REMARK}">{escape(facts)}</span></div>'
    )
    parts = [head, *(notice(text, "warning") for text in report.notices)]
    if report.errors:
        reasons = Counter(row.error or "" for row in report.errors)
        rows = [(f"{n:,}", text) for text, n in reasons.most_common(_REASONS)]
        title = f"{counted(len(report.errors), 'call')} failed"
        parts.append(section(title, text_table(("calls", "why"), rows)))
    parts.append(_pictures(report))
    if len(report):
        table = (
            table_html(report, rows=_PAGE_ROWS)
            if is_page
            else table_html(report, rows=_ROWS, later=LATER)
        )
        parts.append(scrolled(table))
    return framed(parts)


def _pictures(report: "SweepReport") -> str:
    """Return the images and tables that calls returned, each with the arguments of its call."""
    rows = [row for row in report if row.images or row.table]
    if not rows:
        return ""
    cards = "".join(_picture(row) for row in islice(rows, _PICTURES))
    more = len(rows) - _PICTURES
    rest = f'<div style="{REMARK}">{more:,} more</div>' if more > 0 else ""
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:10px;align-items:flex-start;'
        f'margin:0 0 10px">{cards}</div>{rest}'
    )


def _picture(row: Row) -> str:
    title = ", ".join(f"{name}={clip(v, 40)}" for name, v in row.arguments.items())
    parts = [read_image(url).html for url in row.images]
    if row.table is not None:
        columns = [str(name) for name in row.table.get("columns", ())]
        cells = [[str(c) for c in line] for line in row.table.get("rows", ()) if line]
        parts.append(text_table(columns, cells, caption=str(row.table.get("shape", ""))))
    return f'<div style="max-width:24em">{section(title, Html("".join(parts)))}</div>'
