"""A table that a notebook, a terminal and a saved file can show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.core.coercion import data_frame_class
from toolbench.display.escape import escape
from toolbench.display.page import notice
from toolbench.display.render import bundle, to_text
from toolbench.display.tables import listing_html
from toolbench.values import str_of

if TYPE_CHECKING:
    import pandas as pd


class Listing:
    """A table with column names and notes, which many magics return.

    Attributes:
        overview: A shorter table that the cell shows instead of the rows. If it is None, the cell
            shows the rows. Python code always gets all rows.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        empty: str = "",
        *,
        head: str = "",
        problem: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        """Make a table.

        Args:
            columns: The names of the columns.
            rows: The rows, each with a value for every column.
            empty: The sentence to show if there are no rows.
            head: A sentence to show above the rows.
            problem: A sentence to show below the rows, in red.
            notes: The sentences to show at the end.
        """
        self.columns = tuple(columns)
        self.rows = [tuple(row) for row in rows]
        self._empty = empty
        self._head = head
        self._problem = problem
        self.notes = tuple(notes)
        self.overview: Listing | None = None

    def noted(self, notes: Sequence[str]) -> Self:
        """Add *notes* below the existing notes, and return the listing."""
        self.notes += tuple(notes)
        if self.overview is not None:
            self.overview.noted(notes)
        return self

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the rows as a pandas DataFrame; numbers and times are not turned into strings.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        return data_frame_class()(self.rows, columns=list(self.columns))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[object, ...]:
        return self.rows[index]

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if self.overview is not None:
            return self.overview._repr_mimebundle_()
        if not self.rows:
            return bundle("\n".join(filter(None, [self._head, self._empty, *self.notes])))
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            table.add_column(Text(column))
        for row in self.rows:
            table.add_row(*(Text(str_of(cell)) for cell in row))
        parts: list[Any] = [table, *map(Text, self.notes)]
        html = str(listing_html(self.columns, self.rows, self.notes))
        if self._problem:
            parts.insert(1, Text(self._problem))
            html += notice(self._problem, "danger")
        if self._head:
            parts.insert(0, Text(self._head))
            html = f"<div>{escape(self._head)}</div>{html}"
        return {"text/plain": to_text(Group(*parts)), "text/html": html}
