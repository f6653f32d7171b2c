"""The display of a DataFrame of any library, or of the rows of a listing, as a small table."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, Literal, Protocol, runtime_checkable

from rich import box
from rich.table import Table
from rich.text import Text

from toolbench.display.caps import cap, left_out
from toolbench.display.cells import (
    LONGEST,
    Column,
    Nested,
    cell_html,
    is_missing,
    plain_cell,
)
from toolbench.display.css import CELL, CODE_FONT, LINE, REMARK, TABLE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.render import to_text
from toolbench.values import str_of
from toolbench.wording import counted

ROWS = 50
"""The default number of rows of a table to show."""

Mask = Callable[[list[list[str]]], list[list[str]]]
"""A function that hides the secrets in strings."""
_Side = Literal["left", "right"]
COLUMNS = 20
"""The number of columns of a table to show."""


@runtime_checkable
class Frame(Protocol):
    """The protocol of a displayable table: a pandas DataFrame, or an object with these methods."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

    def itertuples(self, index: bool = ..., name: None = ...) -> Iterable[Any]:  # noqa: FBT001 - pandas' signature
        """Return the rows, each starting with its label."""


def as_frame(value: Any) -> Frame | None:
    """Return *value* itself if it is a table; otherwise None.

    An object does not count as a table if reading its attributes raises an error, or if it has
    every possible attribute, as a Mock does.
    """
    try:
        if isinstance(value, Frame) and _is_shape(value.shape):
            return value
    except Exception:  # noqa: BLE001 - it may be any object
        return None
    return None


def _is_shape(shape: Any) -> bool:
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        return False
    return isinstance(shape[0], Integral) and isinstance(shape[1], Integral)


def returned_frame(observation: Any) -> Frame | None:
    """Return the `result` of *observation* if it is a table; otherwise None."""
    try:
        result = getattr(observation, "result", None)
    except Exception:  # noqa: BLE001 - a tool's own class
        return None
    return as_frame(result)


@dataclass(frozen=True)
class ColumnType:
    """The type of a column: its name, and the letter that numpy uses for types of its kind."""

    name: str
    kind: str

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True)
class TableHead:
    """The first rows of a table, which can be shown even after the table is deleted.

    Attributes:
        columns: The names of the columns.
        shape: The numbers of rows and columns that the table had.
        rows: The first rows, each starting with its label.
        dtypes: The type of each column; empty if the table had no types.
        label: The name of the row labels; empty if they have no name.

    A cell that is a number stays a number. Any other cell is a string, which must be escaped before
    it is shown.
    """

    columns: tuple[Any, ...]
    shape: tuple[int, int]
    rows: tuple[tuple[Any, ...], ...]
    dtypes: tuple[ColumnType, ...] = ()
    label: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether no row is left out, and no text of a cell or name is cut off."""
        cells = (cell for row in ((self.label,), self.columns, *self.rows) for cell in row)
        has_all = len(self.rows) == self.shape[0]
        return has_all and not any(map(_is_cut, cells))

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterable[Any]:
        """Return the rows, each starting with its label."""
        return iter(self.rows)


class MaskedTable:
    """A view of a table whose rows have their secrets masked when they are read.

    For speed, secrets are searched for in many rows at a time.
    """

    def __init__(self, frame: Frame, mask: Mask, *, width: int | None = None) -> None:
        """Make a masked view of *frame*.

        Args:
            frame: The table.
            mask: A function that hides the secrets in rows of strings. It returns its argument
                itself if there is no secret.
            width: The number of cells that each row has in the view, including its label; None for
                all cells.
        """
        self._frame, self._mask, self._width = frame, mask, width
        dtypes = _dtypes(frame)
        heads = [tuple(frame.columns), tuple(map(str, dtypes)), (index_name(frame),)]
        self.columns, types, labels = _masked(heads, mask)
        self.shape = (frame.shape[0], frame.shape[1])
        self.dtypes = tuple(map(ColumnType, types, map(_kind, dtypes)))
        self.label: str = labels[0]

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterable[Any]:
        """Return the rows, each starting with its label."""
        rows = (row[: self._width] for row in self._frame.itertuples(index=True, name=None))
        while some := list(islice(rows, ROWS)):
            yield from _masked(some, self._mask)


def _masked(rows: list[tuple[Any, ...]], mask: Mask) -> list[tuple[Any, ...]]:
    texts = [list(map(str_of, row)) for row in rows]
    masked = mask(texts)
    if masked is texts:
        return rows
    return [tuple(map(_kept, *cells)) for cells in zip(rows, texts, masked, strict=True)]


def _kept(cell: Any, text: str, masked: str) -> Any:
    if masked == text:
        return cell
    return masked


def shown_of(frame: Frame, mask: Mask) -> Frame | None:
    """Return *frame* for display, with secrets hidden by *mask*; None if it cannot be read."""
    try:
        return MaskedTable(frame, mask, width=COLUMNS + 1)
    except Exception:  # noqa: BLE001 - a table may be any object
        return None


def head_of(frame: Frame, mask: Mask = list) -> TableHead:
    """Return the first rows of *frame*, which can be shown after the table is deleted.

    A cell that is not a number becomes a string. A long string is cut off.

    Args:
        frame: The table.
        mask: A function that hides the secrets in rows of strings. It is called before long strings
            are cut off.
    """
    table = MaskedTable(frame, mask)
    rows = islice(table.itertuples(), ROWS)
    return TableHead(
        tuple(map(_head_cell, table.columns)),
        table.shape,
        tuple(tuple(map(_head_cell, row)) for row in rows),
        tuple(ColumnType(_head_cell(str(d)), d.kind) for d in table.dtypes),
        _head_cell(table.label),
    )


def _head_cell(cell: Any) -> Any:
    if cell is None or isinstance(cell, _SHOWN_AS_IS):
        return cell
    # One character more than is drawn, which shows that the text is cut
    return str_of(cell)[: LONGEST + 1]


def _is_cut(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) > LONGEST


def index_name(frame: Frame) -> str:
    """Return the name of the row labels of *frame*; empty if they have no name."""
    if isinstance(frame, TableHead | MaskedTable):
        return frame.label
    names = getattr(getattr(frame, "index", None), "names", None) or ()
    return ", ".join(str_of(name) for name in names if name is not None)


def shape_text(frame: Frame) -> str:
    """Return the size of *frame* in words, such as `200 rows · 4 columns`."""
    rows, columns = frame.shape
    return f"{counted(rows, 'row')} · {counted(columns, 'column')}"


def table_html(frame: Frame, *, rows: int = ROWS, typed: bool = False, key: str = "") -> Html:
    """Return the first rows of *frame* as HTML. Each cell is escaped and cut to 200 characters.

    Args:
        frame: The table.
        rows: The number of rows in the HTML.
        typed: Whether to show the type of each column below its name, if the table has types.
        key: The key of the table in `live_results`, with which the page can ask for more rows;
            empty if the page cannot get more rows.
    """
    names, body = names_of(frame), _rows(frame, rows)
    columns, sides = columns_of(names, body), _sides(frame, names, body)
    kinds = [""] * len(names)
    if typed:
        for place, dtype in enumerate(_dtypes(frame)[: len(names) - 1], 1):
            kinds[place] = str(dtype)
    head = "".join(map(_head, names, sides, kinds))
    lines = "".join(_line(cells, sides) for cells in cells_of(body, columns))
    of, all_columns = "", frame.shape[1]
    if all_columns > COLUMNS:
        of = f' data-toolbench-columns="{all_columns}"'
    if key and frame.shape[0] > rows:
        of += f' data-toolbench-result="{key}"'
    left = ""
    for mark, text in _notices(frame, rows):
        left += f'<div {mark} style="{REMARK}">{escape(text)}</div>'
    return Html(
        f'<div {NO_MATHS} style="overflow:auto"><table data-toolbench-table="{frame.shape[0]}"'
        f'{of} style="{TABLE}"><thead style="border-bottom:{LINE}"><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table>{left}</div>"
    )


def _line(cells: Sequence[str], sides: list[_Side]) -> str:
    return f"<tr>{_head(cells[0], 'left')}{''.join(map(cell_html, cells[1:], sides[1:]))}</tr>"


def cells_of(rows: Sequence[Sequence[Any]], columns: list[Column]) -> list[tuple[str, ...]]:
    """Return the cells of *rows* in the formats *columns*. Each row starts with its label."""
    written = map(Column.cells, columns, zip(*rows, strict=True))
    return list(zip(*written, strict=True))


def columns_of(names: list[str], body: list[tuple[Any, ...]]) -> list[Column]:
    """Return the format of each column, derived from the first rows, *body*.

    The first column has the row labels.
    """
    if not body:
        return [Column(()) for _ in names]
    return list(map(Column, zip(*body, strict=True)))


def table_text(frame: Frame, *, rows: int = ROWS, width: int = 100) -> str:
    """Return the first *rows* rows of *frame* as text with lines of at most *width* columns."""
    names, body = names_of(frame), _rows(frame, rows)
    columns = columns_of(names, body)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, side in zip(names, _sides(frame, names, body), strict=True):
        table.add_column(Text(name), overflow="fold", justify=side)
    for cells in cells_of(body, columns):
        table.add_row(*map(_on_one_line, cells))
    remark = " ".join(filter(None, (text for _, text in _notices(frame, rows))))
    return "\n".join(filter(None, (to_text(table, width=width), remark)))


def _on_one_line(cell: str) -> Text:
    if isinstance(cell, Nested):
        return Text(cell.label)
    return Text(cell)


def names_of(frame: Frame) -> list[str]:
    """Return the heads of the displayed columns, starting with the name of the row labels."""
    return list(map(plain_cell, (index_name(frame), *islice(frame.columns, COLUMNS))))


def _rows(frame: Frame, rows: int) -> list[tuple[Any, ...]]:
    first_rows = islice(frame.itertuples(index=True, name=None), rows)
    return [tuple(row[: COLUMNS + 1]) for row in first_rows]


def _sides(frame: Frame, names: list[str], body: list[tuple[Any, ...]]) -> list[_Side]:
    """Return the alignment of each column: "right" for numbers, otherwise "left".

    A column without a type has the alignment of its first value that is not missing. The column
    with the row labels is always "left".
    """
    width = len(names) - 1
    kinds = [*map(_kind, _dtypes(frame)[:width])] or ["O"] * width
    columns = [*zip(*body, strict=True)][1:] or [()] * width
    sides: list[_Side] = ["left"]
    for kind, column in zip(kinds, columns, strict=True):
        side: _Side = "left"
        if kind in _NUMBERS or (kind == "O" and isinstance(_first(column), int | float)):
            side = "right"
        sides.append(side)
    return sides


# Made once: it is asked about each cell
_SHOWN_AS_IS = int | float
# The kinds of numpy's types: boolean, integer, unsigned, float
_NUMBERS = "biuf"


def _dtypes(frame: Frame) -> list[Any]:
    """Return the types of the columns as the table states them; empty if it has no types."""
    dtypes = getattr(frame, "dtypes", ())
    if not isinstance(dtypes, Iterable):
        return []
    types = list(dtypes)
    if len(types) != frame.shape[1]:
        return []
    return types


def _kind(dtype: Any) -> str:
    return str(getattr(dtype, "kind", "O"))


def kind_of(frame: Frame, column: int) -> str:
    """Return the letter that numpy uses for the type of *column*.

    The result is `O` for the row labels, which are column 0.
    """
    dtypes = _dtypes(frame)
    if not column or not dtypes:
        return "O"
    return _kind(dtypes[column - 1])


def _first(column: Iterable[Any]) -> Any:
    """Return the first value of *column* that is not missing; None if there is none."""
    for value in column:
        if not is_missing(value):
            return value
    return None


def _notices(frame: Frame, rows: int) -> Iterator[tuple[str, str]]:
    """Yield the notices about rows and columns that are left out, each with its HTML attribute."""
    height, width = frame.shape
    rest = ""
    if height > rows:
        rest = left_out(height - rows, "row")
    yield "data-toolbench-left-out", rest
    if width > COLUMNS:
        yield "", left_out(width - COLUMNS, "column")


def _head(name: Any, side: _Side, kind: str = "") -> str:
    style, label = f"{CELL};font-weight:600;text-align:{side}", escape(plain_cell(name))
    # An empty column head confuses screen readers
    if not label:
        return f'<td style="{style}"></td>'
    type_note = ""
    if kind:
        type_note = f' <span style="{REMARK};font-weight:400">{escape(plain_cell(kind))}</span>'
    return f'<th style="{style}">{label}{type_note}</th>'


# --- listings -----------------------------------------------------------------------

# Characters of one cell
_LONGEST_CELL = 2_000
_WRITTEN = re.compile(r"(≈ )?\d{1,3}(,?\d{3})*", re.ASCII)
# A cell without spaces and with at most this many characters is never broken
_WORD = 24
# A name of more characters than this is broken
_NAME = 40


def listing_html(
    columns: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()
) -> Html:
    """Return *rows* as a table with whole names, wrapped sentences and right-aligned numbers.

    A column whose cells are all empty is left out. On a narrow page that has loaded our JavaScript
    module, a cell that contains a sentence is shown below the other cells of its row.

    Args:
        columns: The heads of the columns.
        rows: The cells, of any type. Each is shown as text.
        notes: Sentences to show below the table.
    """
    heads: list[str] = []
    cells: list[list[str]] = []
    for index, name in enumerate(columns):
        values = [row[index] for row in rows]
        if values and not any(map(str_of, values)):
            continue
        is_first = not heads
        side = ""
        if values and all(map(_is_number_or_empty, values)):
            side = "text-align:right;font-variant-numeric:tabular-nums"
        mark = ""
        if not is_first and any(map(_is_sentence, values)):
            mark = " data-toolbench-sentence"
        heads.append(
            f'<th scope="col"{mark} style="{CELL};font-weight:600;{side}">{escape(name)}</th>'
        )
        opened, closed = "<td", "</td>"
        if is_first:
            # A screen reader reads this cell with each cell of the row
            opened, closed = '<th scope="row"', "</th>"
        column = []
        for value in values:
            style = f"{CELL};{_flow(value, is_first=is_first)}{side}"
            text = escape(str(cap(str_of(value), _LONGEST_CELL, visible)))
            column.append(f'{opened}{mark} style="{style}">{text}{closed}')
        cells.append(column)
    table = ""
    if heads:
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
        table = (
            f'<table style="{TABLE};{TEXT_FONT};font-size:13px"><thead style="border-bottom:{LINE}">'
            f"<tr>{''.join(heads)}</tr></thead><tbody>{body}</tbody></table>"
        )
    for note in notes:
        table += f'<div style="{REMARK};white-space:pre-wrap">{escape(note)}</div>'
    return Html(
        f'<div {NO_MATHS} data-toolbench-listing role="group" aria-label="Table" tabindex="0" '
        f'style="overflow:auto;{TEXT_FONT};{TEXT_COLOR}">{table}</div>'
    )


def _flow(cell: object, *, is_first: bool) -> str:
    """Return the CSS of *cell*.

    A cell in the first column, which is a name or a line of a log, keeps its spaces. It is broken
    only if it is very long.
    """
    text = str_of(cell)
    if is_first and len(text) > _NAME:
        name = "white-space:pre-wrap;min-width:24em;overflow-wrap:anywhere;"
        return f"{CODE_FONT};font-size:12px;font-weight:400;{name}"
    if is_first:
        return f"{CODE_FONT};font-size:12px;font-weight:400;white-space:pre;"
    if _is_sentence(cell):
        return "min-width:6em;overflow-wrap:break-word;word-break:normal;"
    if " " not in text and len(text) <= _WORD:
        # A date is not broken at its hyphens
        return "white-space:nowrap;"
    return "min-width:4em;overflow-wrap:break-word;word-break:normal;"


def _is_sentence(cell: object) -> bool:
    """Tell whether *cell* contains more than a few words."""
    text = str_of(cell)
    return len(text) > _WORD and " " in text


def _is_number_or_empty(value: object) -> bool:
    return _is_number(value) or not str_of(value)


def _is_number(value: object) -> bool:
    """Tell whether *value* is a number, or a string that represents one, such as `≈ 2,161`."""
    if isinstance(value, str):
        return _WRITTEN.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)
