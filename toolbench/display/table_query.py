"""Filter and sort all rows of a table, of which a page shows the first: in the kernel, for the page.

The filter is that of `toolbench.display.filter`; its keys are the columns.
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
"""The most rows of one answer."""
# The kinds of numpy's types: integer, unsigned, float; and what pandas sorts: also boolean, dates, times
_NUMBERS, _SORTED = "iuf", "biufMm"
# The characters of all values of a kind, as of nan and inf: a word with others is in none of them
_OF_NUMBERS = frozenset("0123456789.+-einfa<>")
_LETTERS = {
    "b": frozenset("truefalsn<>"),
    "i": _OF_NUMBERS,
    "u": _OF_NUMBERS,
    "f": _OF_NUMBERS,
    "M": frozenset("0123456789.+-: nat<>"),
}


class Rows(NamedTuple):
    """Some rows of a filtered and sorted table, as a page draws them, and how many match in all."""

    matched: int
    rows: list[list[Any]]


class Sort(NamedTuple):
    """The column to sort by, 0 for the labels of the rows, and the direction."""

    column: int
    is_descending: bool


class TableQuery:
    """The rows of one table by filter and order. Any thread may ask; what is costly is done once."""

    def __init__(self, frame: Frame, redactor: Redactor) -> None:
        """Answer questions about *frame*; *redactor* hides its secrets, which nobody can search for."""
        shown = MaskedTable(frame, redactor.value, width=COLUMNS + 1)
        self._frame, self._redactor, self._lock = frame, redactor, Lock()
        self._names = names_of(shown)
        self._formats = columns_of(self._names, list(islice(shown.itertuples(), ROWS)))
        self._columns: dict[int, _Values] = {}
        # Of a table that gives its rows only one after another
        self._every_row: list[Any] | None = None
        # The latest filter and order, and the places of its rows
        self._latest: tuple[tuple[str, Sort | None], Sequence[int]] | None = None

    def rows(self, words: str, sort: Sort | None, begin: int, count: int) -> Rows:
        """Return *count* rows from the place *begin* of those that match *words*, in the order *sort*.

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
        """Return the places of the rows for which *term* of a filter holds."""
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
    """The values of one column: their order, and what their cells say."""

    def __init__(self, values: Any, kind: str, column: Column, redactor: Redactor) -> None:
        """Take *values*, a pandas Series or a list, of a type of this *kind*, written as *column* does."""
        self._values, self._kind, self._column = values, kind, column
        if redactor:
            masked = redactor.value(self._cells)
            if masked is not self._cells:
                # What is hidden is neither searched nor compared
                self._values, self._kind, self._cells = masked, "O", masked

    @cached_property
    def _listed(self) -> list[Any]:
        if hasattr(self._values, "tolist"):
            return list(self._values.tolist())
        return list(self._values)

    @cached_property
    def _cells(self) -> list[str]:
        if self._kind == "M" and hasattr(self._values, "astype"):
            # Many times faster than one by one
            cells = list(self._values.astype(str).tolist())
            for place in self._values.isna().to_numpy().nonzero()[0]:
                cells[place] = Missing("NaT")
            return cells
        return self._column.cells(self._listed)

    @cached_property
    def _lowered(self) -> list[str]:
        return list(map(str.lower, self._cells))

    def holding(self, word: str) -> set[int]:
        """Return the places of the cells that hold *word*, in small letters."""
        # A list may have texts in place of numbers, such as "6.6 ms"
        is_typed = hasattr(self._values, "to_numpy")
        if is_typed and not _LETTERS.get(self._kind, set(word)).issuperset(word):
            return set()
        return {place for place, cell in enumerate(self._lowered) if word in cell}

    def compared(self, term: Term) -> set[int]:
        """Return the places of the values for which *term* holds."""
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
        # What is missing has no order
        return {place for place in places if not isinstance(self._cells[place], Missing)}

    def order(self, *, is_descending: bool) -> list[int]:
        """Return the places of the values in their order: numbers by size, missing ones last."""
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
        """Return what sorts values of several types: numbers first, then the others by their text."""
        cell = self._lowered[place]
        number = number_of(self._listed[place], cell)
        if number is not None:
            return 0, number
        return 1, cell
