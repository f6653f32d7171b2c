"""The cells of a table as text: numbers as pandas prints them, missing values, and nested JSON."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time
from math import isfinite
from typing import Any

from pydantic_core import to_json

from toolbench.display.caps import cap, shorten
from toolbench.display.css import CELL, PRE, REMARK
from toolbench.display.escape import escape, visible
from toolbench.display.json_tree import json_text
from toolbench.values import EXACT, SMALL, float_text, str_of

LONGEST = 200
"""The number of characters of a cell to show."""
# Characters of the JSON in one cell, and of its beginning, which is visible before a click
_NESTED, _CHIP = 2_000, 40
_MIDNIGHT = time()
# Digits after the decimal point
_DIGITS = 6


class Missing(str):
    """The text of a missing value, such as `NaN` or `None`."""

    __slots__ = ()


class Nested(str):
    """The JSON of a list or an object, which the user unfolds with a click."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """The beginning of the JSON, on one line."""
        return shorten(" ".join(self[:_NESTED].split()), _CHIP)


class Column:
    """The format of the values in one column.

    The first values of the column determine the format. Floats get as many digits after the decimal
    point as these values need, up to 6. If these values are dates at midnight, dates are written
    without a time.
    """

    def __init__(self, first: Iterable[Any]) -> None:
        """Derive the format from the *first* values."""
        digits, moments = 1, []
        for value in first:
            if isinstance(value, float) and isfinite(value):
                digits = max(digits, len(float_text(value).partition(".")[2].partition("e")[0]))
            elif isinstance(value, datetime) and not is_missing(value):
                moments.append(value.time())
        self._digits = digits
        self._are_days = bool(moments) and set(moments) == {_MIDNIGHT}

    def cells(self, values: Sequence[Any]) -> list[str]:
        """Return `cell(value)` for each of *values*.

        This is much faster for a column of one type.
        """
        kinds = set(map(type, values))
        if kinds <= {int, bool}:
            return list(map(str_of, values))
        if kinds == {float}:
            return self._floats(values)
        text = "\n".join(value for value in values if type(value) is str)
        longest = max((len(value) for value in values if type(value) is str), default=0)
        if longest > LONGEST or visible(text) != text:
            return list(map(self.cell, values))
        cells, last, last_cell = list[str](), None, self.cell(None)
        for value in values:
            if type(value) is str:
                cells.append(value)
                continue
            if value is not last:
                # Usually the single object that stands for missing values
                last, last_cell = value, self.cell(value)
            cells.append(last_cell)
        return cells

    def _floats(self, values: Sequence[float]) -> list[str]:
        cells = ("%.6f\n" * len(values) % tuple(values)).split("\n")[:-1]
        if self._digits < _DIGITS:
            kept = self._digits - _DIGITS
            cells = [cell[:kept] + cell[kept:].rstrip("0") for cell in cells]
        for place, value in enumerate(values):
            # Also NaN
            if value and not SMALL <= abs(value) < EXACT:
                cells[place] = self.cell(value)
        return cells

    def cell(self, value: Any) -> str:
        """Return *value* as text: a `Missing` or `Nested` string if it is missing or nested."""
        if type(value) is str:
            return plain_cell(value)
        if isinstance(value, float) and isfinite(value):
            return float_text(value, self._digits)
        if isinstance(value, float):
            return _infinite(value)
        if isinstance(value, Mapping | list) and value:
            return _nested(value)
        if is_missing(value):
            return Missing(plain_cell(value))
        text = plain_cell(value)
        if self._are_days and isinstance(value, datetime):
            return text.removesuffix(" 00:00:00")
        return text


def _nested(value: Any) -> Nested:
    try:
        # Thousands of them in one table
        text = to_json(value, indent=2, fallback=str_of, inf_nan_mode="constants").decode()
    except Exception:  # noqa: BLE001 - a loop, a user's code
        text = json_text(value)
    text = visible(text)
    if len(text) > _NESTED:
        text = str(cap(text, _NESTED))
    return Nested(text)


def _infinite(value: float) -> str:
    if value != value:
        return Missing("NaN")
    return str(value)


def plain_cell(value: Any) -> str:
    """Return `str(value)` as the text of a cell or a column head, cut off if it is long."""
    if type(value) is tuple:
        # A label with several levels
        value = ", ".join(map(str_of, value))
    return shorten(visible(str_of(value)), LONGEST)


def is_missing(value: Any) -> bool:
    """Tell whether *value* is None, NaN, or pandas' NA or NaT."""
    try:
        # NaN differs from itself
        return value is None or bool(value != value)
    except TypeError:
        # A comparison with pandas' NA has no truth value
        return True
    except Exception:  # noqa: BLE001 - a user's object, or an array
        return False


def cell_html(cell: str, side: str) -> str:
    """Return *cell* as a `<td>` of a table that needs no script."""
    style = f"{CELL};text-align:{side}"
    if isinstance(cell, Missing):
        return f'<td data-toolbench-missing style="{style};{REMARK}">{escape(cell)}</td>'
    if isinstance(cell, Nested):
        fold = f'<summary style="cursor:pointer">{escape(cell.label)}</summary>'
        text = f'<pre style="{PRE};white-space:pre-wrap">{escape(cell)}</pre>'
        return f'<td style="{style}"><details data-toolbench-chip>{fold}{text}</details></td>'
    return f'<td style="{style}">{escape(cell)}</td>'


def sent(cell: str) -> Any:
    """Return *cell* as JSON for the page (`frontend/src/cells.ts`), which draws the cell."""
    if isinstance(cell, Missing):
        return [str(cell)]
    if isinstance(cell, Nested):
        return {"json": str(cell)}
    return cell
