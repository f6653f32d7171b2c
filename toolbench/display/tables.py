"""Show a DataFrame as a small table, whatever library it comes from."""

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal, Protocol, runtime_checkable

from rich import box
from rich.table import Table
from rich.text import Text

from toolbench.display.caps import left_out, shorten
from toolbench.display.css import CELL, LINE, REMARK, TABLE
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.render import to_text

ROWS = 50
"""Rows shown of a table, unless a caller says otherwise."""

_Side = Literal["left", "right"]
_COLUMNS = 20
_LONGEST = 200  # characters of one cell


@runtime_checkable
class Frame(Protocol):
    """What is shown as a table: a pandas DataFrame, or anything that walks like one."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""

    def itertuples(self, index: bool = ..., name: None = ...) -> Iterable[Any]:  # noqa: FBT001 - pandas' signature
        """Give the rows, the row's label first."""


def table_html(frame: Frame, *, rows: int = ROWS) -> Html:
    """Return the first *rows* rows of *frame*, every cell escaped and cut to 200 characters."""
    names, body = _names(frame), _rows(frame, rows)
    sides = _sides(names, body)
    head = "".join(map(_head, names, sides))
    lines = "".join(
        f"<tr>{_head(row[0], 'left')}{''.join(map(_cell, row[1:], sides[1:]))}</tr>"
        for row in body
    )
    remark = f'<div style="{REMARK}">{escape(_remark(frame, rows))}</div>'
    return Html(
        f'<div {NO_MATHS} style="overflow:auto"><table style="{TABLE}">'
        f'<thead style="border-bottom:{LINE}"><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table>{remark}</div>"
    )


def table_text(frame: Frame, *, rows: int = ROWS, width: int = 100) -> str:
    """Return the first *rows* rows of *frame* as text of at most *width* columns."""
    names, body = _names(frame), _rows(frame, rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name, side in zip(names, _sides(names, body), strict=True):
        table.add_column(Text(name), overflow="fold", justify=side)
    for row in body:
        table.add_row(*(Text(_shown(cell)) for cell in row))
    remark = _remark(frame, rows)
    return "\n".join(filter(None, (to_text(table, width=width), remark)))


def _names(frame: Frame) -> list[str]:
    """Return the heads of the columns shown; the rows' labels have none."""
    return ["", *(_shown(name) for name in islice(frame.columns, _COLUMNS))]


def _rows(frame: Frame, rows: int) -> list[tuple[Any, ...]]:
    shown = islice(frame.itertuples(index=True, name=None), rows)
    return [tuple(row[: _COLUMNS + 1]) for row in shown]


def _sides(names: list[str], body: list[tuple[Any, ...]]) -> list[_Side]:
    """Return where each column's text stands: numbers right, as the first row has them."""
    first = body[0] if body else names
    numbers = [isinstance(value, int | float) for value in first]
    return ["left", *("right" if number else "left" for number in numbers[1:])]


def _remark(frame: Frame, rows: int) -> str:
    height, width = frame.shape
    missing = ((height - rows, "row"), (width - _COLUMNS, "column"))
    return " ".join(left_out(count, what) for count, what in missing if count > 0)


def _head(name: Any, side: _Side) -> str:
    style, shown = f"{CELL};font-weight:600;text-align:{side}", escape(_shown(name))
    tag = "th" if shown else "td"  # screen readers stumble over a head without words
    return f'<{tag} style="{style}">{shown}</{tag}>'


def _cell(value: Any, side: _Side) -> str:
    return f'<td style="{CELL};text-align:{side}">{escape(_shown(value))}</td>'


def _shown(value: Any) -> str:
    return shorten(visible(str(value)), _LONGEST)
