"""A table that a notebook, a terminal and a saved file can show."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.display.render import bundle
from toolbench.display.tables import listing_html
from toolbench.values import str_of


class Listing:
    """A table with column names and notes; many magics return it."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        empty: str,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        """Show *rows*, and *notes* below them. If there are no rows, show the sentence *empty* instead."""
        self.columns = tuple(columns)
        self.rows = [tuple(row) for row in rows]
        self._empty = empty
        self.notes = tuple(notes)
        self._overview: Listing | None = None

    def noted(self, notes: Sequence[str]) -> "Listing":
        """Return a copy of the listing with *notes* added below its own notes."""
        listing = Listing(self.columns, self.rows, self._empty, notes=[*self.notes, *notes])
        if self._overview is None:
            return listing
        return listing.with_overview(self._overview.noted(notes))

    def with_overview(self, overview: "Listing") -> "Listing":
        """Return a copy that shows *overview* in place of its rows; a program gets the rows."""
        listing = Listing(self.columns, self.rows, self._empty, notes=self.notes)
        listing._overview = overview
        return listing

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[object, ...]:
        return self.rows[index]

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if self._overview is not None:
            return self._overview._repr_mimebundle_()
        if not self.rows:
            return bundle("\n".join([self._empty, *self.notes]))
        html = listing_html(self.columns, self.rows, self.notes)
        return {"text/plain": bundle(self._text)["text/plain"], "text/html": html}

    @property
    def _text(self) -> Any:
        """The table for a terminal and a saved file."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            table.add_column(Text(column))
        for row in self.rows:
            table.add_row(*(Text(str_of(cell)) for cell in row))
        if not self.notes:
            return table
        return Group(table, *map(Text, self.notes))
