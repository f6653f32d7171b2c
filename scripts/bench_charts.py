"""Draws bench/RESULTS.md: the ratio of toolbench to its peer or limit as bars, with the same numbers as a table.

The pictures are SVG in the page: they take the colours of its theme, and need no script and no network.
"""

import re
from dataclasses import dataclass
from html import escape
from math import log10

COLUMNS = ("work", "toolbench", "peer or limit", "ratio", "goal")
# Widths and the height of a row, in pixels
LABEL, BARS, RIGHT, ROW = 470, 330, 110, 24
# Letters of a label
LONGEST = 66
# Where the axis begins and ends
LEAST, MOST = 0.001, 100.0
STYLE = """
<style>
.bench-chart { overflow-x: auto; }
.bench-chart svg { min-width: 640px; max-width: 100%; height: auto; font: 13px sans-serif; }
.bench-chart text { fill: var(--color-foreground-primary, currentColor); }
.bench-chart .bar { fill: #2f6fb5; }
.bench-chart .more { fill: #b3591b; }
.bench-chart line { stroke: var(--color-foreground-primary, currentColor); }
</style>
"""
HEAD = """\
# Benchmarks as charts

{facts}

A bar is the **ratio** of toolbench to its peer or to a fixed limit, on a logarithmic scale: left of the line toolbench
needs less, right of it more (where the goal begins with ≥, more is better). Rows whose goal was not met say *missed*. Times are of this one machine; ratios hold on
others. All numbers, and why a goal is missed, are in [the results](RESULTS.md).
"""


@dataclass(frozen=True)
class Row:
    """One line of a table of the results."""

    work: str
    ours: str
    peer: str
    ratio: float | None
    goal: str
    verdict: str

    @property
    def ratio_text(self) -> str:
        """The ratio; nothing where the limit is "none", such as threads that are left."""
        return "" if self.ratio is None else f"{self.ratio:g}"

    @property
    def is_missed(self) -> bool:
        """Whether its goal was not met."""
        return "missed" in self.verdict


def page(results: str) -> str:
    """Return the page of charts in Markdown for the text of RESULTS.md."""
    parts = [HEAD.format(facts=facts(results)), _raw(STYLE)]
    for title, rows in sections(results):
        parts += [f"## {title}", _raw(_chart(title, rows)), _table(rows)]
    return "\n\n".join(parts) + "\n"


def facts(results: str) -> str:
    """Return when and on which machine it was measured, as a list."""
    names = ("Date", "Processor", "System", "toolbench", "Peer", "Load average")
    lines = (line for line in results.splitlines() if line.startswith("- "))
    return "\n".join(line for line in lines if line[2:].startswith(names))


def sections(results: str) -> list[tuple[str, list[Row]]]:
    """Return the tables that compare with a peer or limit, each with its heading."""
    parts = re.split(r"^## ", results, flags=re.MULTILINE)[1:]
    titled = ((part.partition("\n")[0], _rows(part)) for part in parts)
    return [(title, rows) for title, rows in titled if rows]


def _rows(text: str) -> list[Row]:
    rows = []
    is_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if tuple(cells[:5]) == COLUMNS:
            is_table = True
        elif is_table and line.startswith("|") and not line.startswith("|--"):
            work, ours, peer, ratio, goal, verdict = cells
            number = float(ratio) if ratio else None
            rows.append(Row(_plain(work), ours, peer, number, goal, verdict))
    return rows


def _plain(text: str) -> str:
    return text.replace("\\*", "*")


def _chart(title: str, rows: list[Row]) -> str:
    height = ROW * len(rows) + 2 * ROW
    width = LABEL + BARS + RIGHT
    one = _x(1.0)
    head = (
        f'<div class="bench-chart" tabindex="0" role="group" aria-label="Chart: {escape(title)}">'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}: ratios; the table '
        f'below has the same numbers" xmlns="http://www.w3.org/2000/svg">'
    )
    line = f'<line x1="{one}" y1="{ROW}" x2="{one}" y2="{height - ROW // 2}"/>'
    middle = f'<text x="{one}" y="{ROW - 8}" text-anchor="middle">the same</text>'
    bars = "".join(_bar(row, ROW * (number + 1)) for number, row in enumerate(rows))
    return f"{head}{bars}{line}{middle}</svg></div>"


def _bar(row: Row, top: int) -> str:
    # No bar without a ratio
    ratio = 1.0 if row.ratio is None else row.ratio
    one, end = _x(1.0), _x(ratio)
    left, length = min(one, end), max(abs(end - one), 1)
    kind = "more" if ratio > 1 and not row.goal.startswith("≥") else "bar"
    label = row.work if len(row.work) <= LONGEST else f"{row.work[: LONGEST - 1]}…"
    remark = f"{row.ratio_text or row.ours}{' missed' if row.is_missed else ''}"
    middle = top + ROW - 7
    return (
        f'<text x="{LABEL - 10}" y="{middle}" text-anchor="end">{escape(label)}</text>'
        f'<rect class="{kind}" x="{left}" y="{top + 4}" width="{length}" height="{ROW - 8}"/>'
        f'<text x="{LABEL + BARS + 8}" y="{middle}">{escape(remark)}</text>'
    )


def _x(ratio: float) -> int:
    inside = min(max(ratio, LEAST), MOST)
    share = (log10(inside) - log10(LEAST)) / (log10(MOST) - log10(LEAST))
    return LABEL + round(share * BARS)


def _table(rows: list[Row]) -> str:
    head = [
        "| work | toolbench | peer or limit | ratio | goal | result |",
        "|---|--:|--:|--:|--:|---|",
    ]
    body = [
        f"| {row.work.replace('*', chr(92) + '*')} | {row.ours} | {row.peer} | {row.ratio_text} | {row.goal} | {row.verdict} |"
        for row in rows
    ]
    return "\n".join([*head, *body])


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html.strip()}\n```"
