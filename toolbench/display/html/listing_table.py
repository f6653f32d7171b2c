"""Tables with a few columns of text, for the lists that magics show; they also fit narrow pages."""

import re
from collections.abc import Sequence

from toolbench.display.caps import cap
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.html.css import (
    CELL,
    CODE_FONT,
    LINE,
    REMARK,
    TABLE,
    TEXT_COLOR,
    TEXT_FONT,
)
from toolbench.values import str_of

# Characters of one cell
_LONGEST = 2_000
_WRITTEN = re.compile(r"(≈ )?\d{1,3}(,?\d{3})*", re.ASCII)
# Characters of a cell without a space that is never broken
_WORD = 24
# Characters; a longer name is broken
_NAME = 40


def listing_html(
    columns: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()
) -> Html:
    """Return *rows* as a table: names stay whole, long texts are wrapped, numbers are on the right.

    A column whose cells are all empty is left out. On a narrow page with our front-end module,
    columns of sentences go below the other cells of their row.

    Args:
        columns: The heads of the columns.
        rows: The cells, of any type; each is shown as text.
        notes: Sentences below the table.
    """
    used = [i for i in range(len(columns)) if any(str_of(row[i]) for row in rows)]
    if rows:
        columns = [columns[i] for i in used]
        rows = [[row[i] for i in used] for row in rows]
    numeric = [
        bool(rows) and all(_is_number_or_empty(row[index]) for row in rows)
        for index in range(len(columns))
    ]
    sentences = [
        index > 0 and any(_is_sentence(row[index]) for row in rows) for index in range(len(columns))
    ]
    marks = [" data-toolbench-sentence" * has for has in sentences]
    heads = "".join(
        f'<th scope="col"{mark} style="{CELL};font-weight:600;{_side(is_number)}">{escape(name)}</th>'
        for name, is_number, mark in zip(columns, numeric, marks, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, numeric, marks)}</tr>" for row in rows)
    below = "".join(
        f'<div style="{REMARK};white-space:pre-wrap">{escape(note)}</div>' for note in notes
    )
    table = (
        f'<table style="{TABLE};{TEXT_FONT};font-size:13px"><thead style="border-bottom:{LINE}"><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
        if columns
        else ""
    )
    return Html(
        f'<div {NO_MATHS} data-toolbench-listing role="group" aria-label="Table" tabindex="0" '
        f'style="overflow:auto;{TEXT_FONT};{TEXT_COLOR}">{table}{below}</div>'
    )


def _cells(row: Sequence[object], numeric: Sequence[bool], marks: Sequence[str]) -> str:
    return "".join(
        f'<td{mark} style="{CELL};{_flow(index, cell)}{_side(is_number)}">{_text(cell)}</td>'
        for index, (cell, is_number, mark) in enumerate(zip(row, numeric, marks, strict=True))
    )


def _text(cell: object) -> Html:
    return escape(str(cap(str_of(cell), _LONGEST, visible)))


def _flow(index: int, cell: object) -> str:
    """Return the CSS of *cell*; a name in the first column is broken only if it is very long."""
    if index == 0:
        is_long = len(str_of(cell)) > _NAME
        wrap = "min-width:24em;overflow-wrap:anywhere" if is_long else "white-space:nowrap"
        return f"{CODE_FONT};font-size:12px;{wrap};"
    if _is_sentence(cell):
        return "min-width:6em;overflow-wrap:break-word;word-break:normal;"
    if " " not in str_of(cell) and len(str_of(cell)) <= _WORD:
        # A date is not broken at its hyphens
        return "white-space:nowrap;"
    return "min-width:4em;overflow-wrap:break-word;word-break:normal;"


def _is_sentence(cell: object) -> bool:
    """Tell whether *cell* holds more than a few words."""
    text = str_of(cell)
    return len(text) > _WORD and " " in text


def _side(is_number: bool) -> str:  # noqa: FBT001 - private, and reads well where it is called
    return "text-align:right;font-variant-numeric:tabular-nums" if is_number else ""


def _is_number_or_empty(value: object) -> bool:
    return _is_number(value) or not str_of(value)


def _is_number(value: object) -> bool:
    """Tell whether *value* is a number, or a text of a number, such as `≈ 2,161`."""
    if isinstance(value, str):
        return _WRITTEN.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)
