"""The report of a sweep: a row for each call, as a table, as text and as HTML."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import ceil, isfinite
from os import PathLike
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import text_line
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.images import read_image
from toolbench.display.page import notice, section
from toolbench.display.tables import (
    ColumnType,
    TableHead,
    listing_html,
    table_html,
    table_text,
)
from toolbench.evals.report_parts import ReportEntries, framed, heading, page, scrolled, written
from toolbench.evals.sweep_call import OWN_COLUMNS, Row
from toolbench.values import clip, str_of
from toolbench.wording import counted, duration, rounded

# In a saved notebook
_ROWS = 50
_PAGE_ROWS = 10_000
_PICTURES = 24
_PERCENTILES = (50, 90, 99)
_REASONS = 10
_LOW = 'role="group" aria-label="Table" tabindex="0" style="max-height:14em;overflow:auto"'


def sweep_html(report: "SweepReport", *, rows: int = _ROWS, key: str = "") -> Html:
    """Return *report* as HTML that needs no kernel.

    If a widget shows the HTML, a click on a row sends the row's number to the widget.

    Args:
        report: The report.
        rows: The maximum number of rows in the HTML.
        key: The key of the report in `live_results`, with which the page loads the other rows.
    """
    facts = f"{counted(len(report), 'call')} in {duration(report.seconds)}"
    parts = [heading(f"Sweep of {report.tool}", facts), _numbers(report)]
    for text in report.notices:
        parts.append(notice(text, "warning"))
    if report.errors:
        reasons = Counter(row.error or "" for row in report.errors)
        lines = [(f"{n:,}", text) for text, n in reasons.most_common(_REASONS)]
        title = f"{counted(len(report.errors), 'call')} failed"
        parts.append(section(title, listing_html(("calls", "why"), lines)))
    parts.append(_pictures(report))
    if len(report):
        table = table_html(shown_rows(report, rows), rows=rows, key=key)
        parts.append(scrolled(Html(f"<div data-toolbench-opens>{table}</div>")))
    return framed(parts)


def _numbers(report: "SweepReport") -> str:
    """Return the facts above the rows, each below its name."""
    cells = ""
    for name, text, tip in report._facts():
        cells += (
            f'<span title="{escape(tip)}"><span style="{REMARK};display:block">{escape(name)}</span> '
            f"<strong>{escape(text)}</strong></span> "
        )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:4px 28px;margin:0 0 10px;'
        f'font-variant-numeric:tabular-nums">{cells}</div>'
    )


def shown_rows(report: "SweepReport", count: int | None = None) -> TableHead:
    """Return the first *count* rows as users see them, with rounded numbers and short texts.

    Args:
        report: The report.
        count: The number of rows; None for all.
    """
    whole = {*report.argument_columns.values(), *OWN_COLUMNS}
    names, columns, kinds = [], [], []
    for name, values in report.columns.items():
        if name == "error" and not report.errors:
            continue
        column = values[:count]
        first = next((value for value in column if value is not None), None)
        kind = "O"
        if isinstance(first, int | float) and not isinstance(first, bool):
            kind = "f"
        if name == "seconds":
            column = [*map(duration, column)]
        elif name == "error":
            column = [error or "" for error in column]
        elif name not in whole:
            column = [_cell(value, row) for value, row in zip(column, report, strict=False)]
        names.append(name)
        columns.append(column)
        kinds.append(ColumnType("", kind))
    rows = tuple((number, *row) for number, row in enumerate(zip(*columns, strict=True)))
    return TableHead(tuple(names), (len(report), len(names)), rows, tuple(kinds))


def _cell(value: Any, row: Row) -> Any:
    """Return *value*, a part of a result, as a cell shows it: numbers with three digits."""
    if value is None and row.error is not None:
        return ""
    if row.table is not None and isinstance(value, str):
        # The table stands above, and is no text for one cell
        return row.table["shape"]
    if isinstance(value, float) and isfinite(value):
        return rounded(value)
    return value


def _pictures(report: "SweepReport") -> str:
    """Return the images and tables that calls returned, each with the arguments of the call."""
    rows = [row for row in report if row.images or row.table]
    if not rows:
        return ""
    cards = "".join(_picture(row) for row in islice(rows, _PICTURES))
    more = len(rows) - _PICTURES
    rest = ""
    if more > 0:
        rest = f'<div style="{REMARK}">{more:,} more</div>'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:10px 28px;align-items:flex-start;'
        f'margin:0 0 10px">{cards}</div>{rest}'
    )


def _picture(row: Row) -> str:
    title = ", ".join(f"{name}={clip(v, 40)}" for name, v in row.arguments.items())
    parts = [f'<div style="max-width:24em">{read_image(url).html}</div>' for url in row.images]
    if row.table is not None:
        label, *columns = [str(name) for name in row.table.get("columns", ())] or [""]
        cells = tuple(tuple(line) for line in row.table["rows"] if line)
        head = TableHead(tuple(columns), (len(cells), len(columns)), cells, label=label)
        # Not a listing, which leaves out the columns that are empty
        shape = f'<div style="{REMARK}">{escape(str(row.table["shape"]))}</div>'
        # Low, since the rows of the sweep come below
        parts.append(Html(f"<div {_LOW}>{table_html(head)}</div>{shape}"))
    return f'<div style="max-width:min(100%,40em)">{section(title, Html("".join(parts)))}</div>'


# Rows in the text of a report
_MAX_ROWS = 10


class SweepReport(ReportEntries[Row]):
    """The rows of a sweep, in the order of the calls.

    The report begins with the share of errors, and with the times within which 50, 90 and 99 % of
    the calls ended. A saved notebook contains the first 50 rows. The page that `to_html` writes
    contains the first 10,000 rows. Numbers are shown with three digits; `columns` and
    `to_dataframe()` return them with all digits.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.evals import sweep
        >>> @tool(read_only=True)
        ... def capital(country: str) -> str:
        ...     "Return the capital of a country."
        ...     return {"France": "Paris", "Norway": "Oslo"}[country]
        >>> report = sweep(capital, {"country": ["France", "Atlantis"]})
        >>> report.columns["result"]
        ['Paris', None]
        >>> [row.error for row in report.errors]
        ["KeyError: 'Atlantis'"]
    """

    def __init__(
        self,
        tool: str,
        rows: Sequence[Row],
        *,
        arguments: Sequence[str],
        axes: Sequence[str],
        planned: int,
        stopped: str | None = None,
        notes: Sequence[str] = (),
        seconds: float = 0.0,
        definition: ToolDefinition[Any, Any],
        is_saved: bool = False,
    ) -> None:
        """Make a report of *rows*; users get reports from `sweep`."""
        super().__init__(
            rows,
            planned=planned,
            stopped=stopped,
            notes=notes,
            seconds=seconds,
            is_saved=is_saved,
        )
        self.tool = tool
        """The name of the tool."""
        self.definition = definition
        """The tool itself."""
        self._arguments = arguments
        self.axes = tuple(axes)
        """The arguments of the grid that have more than one value."""

    @cached_property
    def argument_columns(self) -> dict[str, str]:
        """The column name for each argument: usually the argument's name.

        For an argument called `repeat`, `state`, `error` or `seconds`, it is `argument.<name>`.
        """
        names = _names((row.arguments for row in self), self._arguments)
        columns: dict[str, str] = {}
        for name in names:
            others = {*OWN_COLUMNS, *(n for n in names if n != name), *columns.values()}
            columns[name] = _free(name, "argument", others)
        return columns

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """All columns with their values: arguments first, then the fields of the results.

        The fixed columns are `repeat`, `state`, `error` and `seconds`. If an argument has the name
        of a fixed column, its column is called `argument.<name>`. If a field has the name of an
        argument or of a fixed column, its column is called `result.<name>`.
        """
        columns: dict[str, list[Any]] = {
            column: [row.arguments.get(name) for row in self]
            for name, column in self.argument_columns.items()
        }
        if any(row.repeat > 1 for row in self):
            columns["repeat"] = [row.repeat for row in self]
        for name in _names((row.fields for row in self), ()):
            others = {*columns, *self.argument_columns, *OWN_COLUMNS}
            column = _free(name, "result", others)
            columns[column] = [row.fields.get(name) for row in self]
        columns["state"] = [row.state for row in self]
        columns["error"] = [row.error for row in self]
        columns["seconds"] = [row.seconds for row in self]
        return columns

    def _table_columns(self) -> dict[str, list[Any]]:
        return self.columns

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
            overwrite: Whether to replace the file if it has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        text = page(f"Sweep of {self.tool}", sweep_html(self, rows=_PAGE_ROWS))
        return written(text, path, overwrite=overwrite)

    @property
    def notices(self) -> list[str]:
        """Notes that a reader needs in order to judge the rows."""
        notices = [*self._notes]
        warnings = [row.warning for row in self if row.warning]
        if warnings:
            calls = counted(len(warnings), "call")
            notices.append(f"{calls} succeeded, but not as the tool declares: {warnings[0]}")
        if self.stopped is None:
            return notices
        return [
            *notices,
            f"{self.stopped} after {len(self):,} of {self.planned:,} calls. {self._how_to_go_on}",
        ]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of columns."""
        return len(self), len(self.columns)

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows as pandas does, so that a report can be shown as a table."""
        texts = [error or "" for error in self.columns["error"]]
        seconds = [round(number, 6) for number in self.columns["seconds"]]
        columns = self.columns | {"error": texts, "seconds": seconds}
        numbered = enumerate(zip(*columns.values(), strict=True))
        return ((n, *row) if index else row for n, row in numbered)

    def _facts(self) -> list[tuple[str, str, str]]:
        """Return the name, the value and the explanation of each number above the rows."""
        # Of calls that ran
        times = sorted(row.seconds for row in self if row.state in ("ok", "error"))
        facts = []
        for percent in _PERCENTILES:
            if times:
                text = duration(times[ceil(percent / 100 * len(times)) - 1])
                facts.append((f"p{percent}", text, f"{percent} % of the calls took no longer"))
        if len(self):
            share = f"{100 * len(self.errors) / len(self):.3g}%"
            facts.append(("errors", share, f"{len(self.errors):,} of {len(self):,} calls failed"))
        return facts

    def __repr__(self) -> str:
        return (
            f"<SweepReport of {self.tool}: {counted(len(self), 'call')}, "
            f"{counted(len(self.errors), 'error')}>"
        )

    def to_text(self) -> str:
        """Return the first rows and the errors as text."""
        reasons = Counter(str_of(row.error) for row in self.errors)
        facts = [f"{name} {text}" for name, text, _ in self._facts()]
        lines = [repr(self), ", ".join(facts), *map(text_line, self.notices)]
        lines += [
            text_line(f"{count:,} x {text}") for text, count in reasons.most_common(_MAX_ROWS)
        ]
        if len(self):
            lines.append(table_text(shown_rows(self, _MAX_ROWS), rows=_MAX_ROWS))
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": sweep_html(self)}


def _names(rows: Iterator[Mapping[str, Any]] | Any, order: Sequence[str]) -> list[str]:
    """Return all keys of *rows*; the keys in *order* come first."""
    known: dict[str, None] = {}
    for row in rows:
        known.update(dict.fromkeys(row))
    first = [name for name in order if name in known]
    return [*first, *(name for name in known if name not in first)]


def _free(name: str, kind: str, others: Collection[str]) -> str:
    """Return *name* for a column, with `kind.` before it if another column has this name."""
    while name in others:
        name = f"{kind}.{name}"
    return name
