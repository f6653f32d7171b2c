"""The report of a sweep: a row for each call."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pydantic import BaseModel, ConfigDict

from toolbench.display.caps import text_line
from toolbench.display.tables import table_text
from toolbench.errors import MissingExtraError
from toolbench.evals.reports.report_html import page
from toolbench.evals.sweeps.sweep_html import sweep_html
from toolbench.jsonschema.types import Json
from toolbench.plain import str_of
from toolbench.wording import counted

if TYPE_CHECKING:
    import pandas as pd

_MAX_ROWS = 10  # rows in the text of a report
OWN_COLUMNS = ("repeat", "state", "error", "seconds")
"""The columns about the call itself."""


class _SavedTable(BaseModel):
    model_config = ConfigDict(strict=True)

    columns: list[str]
    rows: list[list[str]]
    shape: str


@dataclass(frozen=True, slots=True)
class Row:
    """One call and its result."""

    arguments: Mapping[str, Any]
    """The arguments, with secrets hidden."""
    repeat: int
    state: str
    """"ok"; "error" (the tool failed), "invalid" (the arguments do not fit), "lost" (the worker)."""
    seconds: float
    fields: Mapping[str, Any]
    """The fields of the result, or `result` alone."""
    text: str = ""
    """The text for a model, if it is more than the only field."""
    error: str | None = None
    images: Sequence[str] = ()
    """Images as `data:` or `https:` URLs."""
    table: Json | None = None
    """The first rows of a returned table: `columns`, `rows`, `shape`."""

    @classmethod
    def of(
        cls, arguments: Mapping[str, Any], repeat: int, result: Mapping[str, Any]
    ) -> "Row":
        """Return the row of a *result* from `make_calls` or from a file."""
        return cls(
            arguments,
            repeat,
            str(result.get("state", "error")),
            float(result.get("seconds", 0.0)),
            result.get("fields") or {},
            result.get("text", ""),
            result.get("error"),
            tuple(result.get("images", ())),
            result.get("table"),
        )


class SavedRow(BaseModel):
    """The fields that a line of a file needs to become a row."""

    model_config = ConfigDict(strict=True)

    state: str
    seconds: float
    fields: dict[str, Any] | None = None
    text: str = ""
    error: str | None = None
    images: list[str] = []
    table: _SavedTable | None = None


class SweepReport(Sequence[Row]):
    """The rows of a sweep, in the order of the calls."""

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
    ) -> None:
        """Make a report of *rows*; users get it from `sweep`."""
        self.tool = tool
        """The name of the tool."""
        self._rows = rows
        self._arguments = arguments
        self.axes = tuple(axes)
        """The arguments with more than one value."""
        self.planned = planned
        """The planned number of calls."""
        self.stopped = stopped
        """Why it ended early, in words; None if it did not."""
        self.seconds = seconds
        """The total time, in seconds."""
        self._notes = tuple(notes)

    @cached_property
    def errors(self) -> list[Row]:
        """The rows of calls that failed."""
        return [row for row in self._rows if row.error is not None]

    @cached_property
    def argument_columns(self) -> dict[str, str]:
        """The name of the column of each argument: the argument's name.

        An argument called `repeat`, `state`, `error` or `seconds` is `argument.<name>`.
        """
        names = _names((row.arguments for row in self._rows), self._arguments)
        columns: dict[str, str] = {}
        for name in names:
            others = {*OWN_COLUMNS, *(n for n in names if n != name), *columns.values()}
            columns[name] = _free(name, "argument", others)
        return columns

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """All columns with their values: arguments first, then the fields of the results.

        A field with the name of an argument, or of a column that each sweep has (`repeat`,
        `state`, `error`, `seconds`), is `result.<name>`; such an argument is `argument.<name>`.
        """
        columns: dict[str, list[Any]] = {
            column: [row.arguments.get(name) for row in self._rows]
            for name, column in self.argument_columns.items()
        }
        if any(row.repeat > 1 for row in self._rows):
            columns["repeat"] = [row.repeat for row in self._rows]
        for name in _names((row.fields for row in self._rows), ()):
            others = {*columns, *self.argument_columns, *OWN_COLUMNS}
            column = _free(name, "result", others)
            columns[column] = [row.fields.get(name) for row in self._rows]
        columns["state"] = [row.state for row in self._rows]
        columns["error"] = [row.error for row in self._rows]
        columns["seconds"] = [row.seconds for row in self._rows]
        return columns

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a row for each call, with a column for each argument and each field of the result.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtraError(extra="pandas") from error
        return pd.DataFrame(self.columns)

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
        """
        text = page(f"Sweep of {self.tool}", sweep_html(self, is_page=True))
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @property
    def notices(self) -> list[str]:
        """Notes that a reader needs to judge the rows."""
        notices = [*self._notes]
        if self.stopped is None:
            return notices
        return [
            *notices,
            f"{self.stopped} after {len(self):,} of {self.planned:,} calls. The same `save=` file "
            "goes on from here.",
        ]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), len(self.columns)

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows like pandas, so that a report is shown as a table."""
        texts = [error or "" for error in self.columns["error"]]
        seconds = [round(number, 6) for number in self.columns["seconds"]]
        columns = self.columns | {"error": texts, "seconds": seconds}
        numbered = enumerate(zip(*columns.values(), strict=True))
        return ((n, *row) if index else row for n, row in numbered)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return (
            f"<SweepReport of {self.tool}: {counted(len(self), 'call')}, "
            f"{counted(len(self.errors), 'error')}>"
        )

    def to_text(self) -> str:
        """Return the first rows and the errors as text."""
        reasons = Counter(str_of(row.error) for row in self.errors)
        lines = [repr(self), *map(text_line, self.notices)]
        lines += [
            text_line(f"{count:,} x {text}")
            for text, count in reasons.most_common(_MAX_ROWS)
        ]
        return "\n".join(
            [*lines, table_text(self, rows=_MAX_ROWS)] if len(self) else lines
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": sweep_html(self)}

    def heatmap(self, value: str | None = None, *, x: str = "", y: str = "") -> Any:
        """Return a matplotlib figure: *value* (the mean of repeats) as colour over two arguments.

        Args:
            value: A column of numbers; the first result if left out.
            x: The argument along the bottom; the second axis of the grid if left out.
            y: The argument up the side; the first axis of the grid if left out.

        Raises:
            CaseError: If there are no such columns, or they hold no numbers.
            MissingExtraError: If matplotlib is not installed.
        """
        from toolbench.evals.sweeps import plots  # noqa: PLC0415 - matplotlib is optional

        return plots.heatmap(self, value, x, y)

    def plot(self, value: str | None = None, *, x: str = "", by: str = "") -> Any:
        """Return a matplotlib figure: *value* over one argument, a line for each value of another.

        Args:
            value: A column of numbers; the first result if left out.
            x: The argument along the bottom; the first axis of the grid if left out.
            by: The argument with a line for each value; the second axis if left out.

        Raises:
            CaseError: If there are no such columns, or they hold no numbers.
            MissingExtraError: If matplotlib is not installed.
        """
        from toolbench.evals.sweeps import plots  # noqa: PLC0415 - as above

        return plots.lines(self, value, x, by)


def _names(rows: Iterator[Mapping[str, Any]] | Any, order: Sequence[str]) -> list[str]:
    """Return all keys of *rows*, those in *order* first."""
    known: dict[str, None] = {}
    for row in rows:
        known.update(dict.fromkeys(row))
    first = [name for name in order if name in known]
    return [*first, *(name for name in known if name not in first)]


def _free(name: str, kind: str, others: Collection[str]) -> str:
    """Return *name* for a column, behind `kind.` where another column has that name."""
    while name in others:
        name = f"{kind}.{name}"
    return name
