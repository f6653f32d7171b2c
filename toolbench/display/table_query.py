"""Filtering and sorting, in the kernel, of a table of which a page shows only the first rows.

Filters use the language of `toolbench.display.filter`, with the names of the columns as keys.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from toolbench.display.cells import Column, Missing, is_missing, sent
from toolbench.display.filter import SIGNS, Filter, Term, number_of, plain
from toolbench.display.object_table import ObjectTable
from toolbench.display.tables import (
    COLUMNS,
    ROWS,
    Frame,
    MaskedTable,
    cells_of,
    columns_of,
    kind_of,
    names_of,
)
from toolbench.redaction.redactor import Redactor

MOST_ROWS = 10_000
"""The maximum number of rows in one answer."""
# Kinds of numpy's types: integer, unsigned, float; and those that pandas sorts, which include
# boolean, dates and times
_NUMBERS, _SORTED = "iuf", "biufMm"
# All characters that values of a kind can have, including nan and inf; a word with any other
# character is in no value
_OF_NUMBERS = frozenset("0123456789.+-einfa<>")
_LETTERS = {
    "b": frozenset("truefalsn<>"),
    "i": _OF_NUMBERS,
    "u": _OF_NUMBERS,
    "f": _OF_NUMBERS,
    "M": frozenset("0123456789.+-: nat<>"),
}


class Rows(NamedTuple):
    """Some rows of a filtered and sorted table, ready to be drawn, and how many rows match."""

    matched: int
    rows: list[list[Any]]


class Sort(NamedTuple):
    """The column to sort by (0 means the row labels), and the direction."""

    column: int
    is_descending: bool


class TableQuery:
    """Filters and sorts the rows of a table for a page that shows them.

    Any thread may call `rows`. The rows found for the latest filter and order are remembered, so
    scrolling is fast.
    """

    def __init__(self, frame: Frame, redactor: Redactor) -> None:
        """Answer queries about the table *frame*.

        *redactor* hides the secrets of the table, so a filter cannot find them either.
        """
        shown = MaskedTable(frame, redactor.value, width=COLUMNS + 1)
        self._frame, self._redactor, self._lock = frame, redactor, Lock()
        self._names = names_of(shown)
        self._formats = columns_of(self._names, list(islice(shown.itertuples(), ROWS)))
        self._columns: dict[int, _Values] = {}
        # All rows of a table that can only be iterated
        self._every_row: list[Any] | None = None
        # The latest filter and order, and the places of the rows that match
        self._latest: tuple[tuple[str, Sort | None], Sequence[int]] | None = None

    def rows(self, words: str, sort: Sort | None, begin: int, count: int) -> Rows:
        """Return a part of the rows that match the filter *words*, sorted by *sort*.

        The part begins at the index *begin* of the matching rows, and has at most *count* rows.

        Raises:
            FilterError: If *words* name a column that the table does not have.
        """
        with self._lock:
            asked = words, sort
            if self._latest is None or self._latest[0] != asked:
                self._latest = asked, self._places(*asked)
            places = self._latest[1]
            begin = max(begin, 0)
            some = places[begin : begin + min(max(count, 0), MOST_ROWS)]
            return Rows(len(places), self._drawn(some))

    def _drawn(self, places: Sequence[int]) -> list[list[Any]]:
        rows = [row[: len(self._formats)] for row in self._rows_at(places)]
        cells = cells_of(rows, self._formats)
        return [list(map(sent, row)) for row in self._redactor.value(cells)]

    def _rows_at(self, places: Sequence[int]) -> Iterable[Any]:
        frame: Any = self._frame
        if isinstance(frame, ObjectTable):
            return map(frame.row, places)
        if hasattr(frame, "iloc"):
            some = frame.iloc[list(places), :COLUMNS]
            return list(some.itertuples(index=True, name=None))
        if self._every_row is None:
            self._every_row = list(frame.itertuples(index=True, name=None))
        return [self._every_row[place] for place in places]

    # --- filter and order ---------------------------------------------------------------

    def _places(self, words: str, sort: Sort | None) -> Sequence[int]:
        order: Sequence[int] = range(self._frame.shape[0])
        found: set[int] | None = None
        for term in Filter(words, self._names).terms:
            places = self._matching(term)
            if found is not None:
                places &= found
            found = places
        if sort is not None and 0 <= sort.column < len(self._names):
            order = self._column(sort.column).order(is_descending=sort.is_descending)
        if found is None:
            return order
        return [place for place in order if place in found]

    def _matching(self, term: Term) -> set[int]:
        """Return the indexes of the rows that match *term*, a part of a filter."""
        if term.key:
            names = list(map(plain, self._names))
            return self._column(names.index(term.key)).compared(term)
        places = set[int]()
        for column in range(len(self._names)):
            places |= self._column(column).holding(term.value)
        return places

    def _column(self, number: int) -> "_Values":
        if number not in self._columns:
            frame: Any = self._frame
            kind = kind_of(frame, number)
            if hasattr(frame, "iloc") and number == 0:
                values, kind = frame.index.to_series(), str(getattr(frame.index.dtype, "kind", "O"))
            elif hasattr(frame, "iloc"):
                values = frame.iloc[:, number - 1]
            else:
                values = [row[number] for row in self._rows_at(range(frame.shape[0]))]
            self._columns[number] = _Values(values, kind, self._formats[number], self._redactor)
        return self._columns[number]


class _Values:
    """The values of one column, with their order and the text of their cells."""

    def __init__(self, values: Any, kind: str, column: Column, redactor: Redactor) -> None:
        """Take *values*, a pandas Series or a list, whose type has this *kind*.

        *column* is the format of the cells.
        """
        self._values, self._kind, self._column = values, kind, column
        if redactor:
            masked = redactor.value(self._cells)
            if masked is not self._cells:
                # Hidden values are neither searched nor compared
                self._values, self._kind, self._cells = masked, "O", masked

    @cached_property
    def _listed(self) -> list[Any]:
        if hasattr(self._values, "tolist"):
            return list(self._values.tolist())
        return list(self._values)

    @cached_property
    def _cells(self) -> list[str]:
        if self._kind == "M" and hasattr(self._values, "astype"):
            # Many times faster than converting one by one
            cells = list(self._values.astype(str).tolist())
            for place in self._values.isna().to_numpy().nonzero()[0]:
                cells[place] = Missing("NaT")
            return cells
        return self._column.cells(self._listed)

    @cached_property
    def _lowered(self) -> list[str]:
        return list(map(str.lower, self._cells))

    def holding(self, word: str) -> set[int]:
        """Return the indexes of the cells that contain *word*, which is in lower case."""
        # A list may contain strings instead of numbers, such as "6.6 ms"
        is_typed = hasattr(self._values, "to_numpy")
        if is_typed and not _LETTERS.get(self._kind, set(word)).issuperset(word):
            return set()
        return {place for place, cell in enumerate(self._lowered) if word in cell}

    def compared(self, term: Term) -> set[int]:
        """Return the indexes of the values for which *term* holds."""
        if term.sign == ":":
            return self.holding(term.value)
        if term.sign == "!=":
            return set(range(len(self._cells))) - self.compared(term.equal)
        if term.limit is None:
            return self._texts_that_fit(term)
        if self._kind in _NUMBERS and hasattr(self._values, "to_numpy"):
            test = SIGNS[term.sign]
            matching = test(self._values, term.limit).to_numpy(dtype=bool, na_value=False)
            return set(matching.nonzero()[0].tolist())
        rows = enumerate(zip(self._listed, self._lowered, strict=True))
        return {place for place, (own, cell) in rows if term.fits(own, cell)}

    def _texts_that_fit(self, term: Term) -> set[int]:
        fits = term.fits_text
        places = {place for place, cell in enumerate(self._lowered) if fits(cell)}
        if term.sign == "=":
            return places
        # Missing values have no order
        return {place for place in places if not isinstance(self._cells[place], Missing)}

    def order(self, *, is_descending: bool) -> list[int]:
        """Return the indexes of the sorted values: numbers by size, missing values last."""
        if self._kind in _SORTED and hasattr(self._values, "sort_values"):
            series = self._values.reset_index(drop=True)
            series = series.sort_values(ascending=not is_descending, kind="stable")
            return list(series.index.tolist())
        values = self._listed
        missing = [place for place, value in enumerate(values) if is_missing(value)]
        there = sorted(set(range(len(values))).difference(missing))
        kinds = {type(values[place]) for place in there}
        key: Callable[[int], Any] = self._mixed_key
        if kinds == {str} and self._kind not in _NUMBERS:
            key = self._lowered.__getitem__
        elif kinds <= {int, float, bool}:
            key = values.__getitem__
        there.sort(key=key, reverse=is_descending)
        return there + missing

    def _mixed_key(self, place: int) -> tuple[int, Any]:
        """Return a sort key for values of several types: numbers first, then the others by text."""
        cell = self._lowered[place]
        number = number_of(self._listed[place], cell)
        if number is not None:
            return 0, number
        return 1, cell
