"""Write texts as an HTML table, with every cell escaped."""

from collections.abc import Iterable, Sequence

from toolbench.display.css import CELL, LINE, TABLE
from toolbench.display.escape import NO_MATHS, Html
from toolbench.display.page import short

# Characters of a cell
_WIDEST = 300


def text_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> Html:
    """Return *rows* of texts as HTML, below the column names *heads*; the first cell names the row."""
    head = "".join(
        f'<th scope="col" style="{CELL};font-weight:600">{short(text)}</th>'
        if text
        else f'<td style="{CELL}"></td>'
        for text in heads
    )
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    caption_html = f"<caption>{short(caption)}</caption>" if caption else ""
    return Html(
        f'<div {NO_MATHS} style="overflow:auto;margin:0 0 10px"><table style="{TABLE}">{caption_html}'
        f'<thead style="border-bottom:{LINE}"><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    name = f'<th scope="row" style="{CELL};font-weight:600">{short(first, _WIDEST)}</th>'
    return name + "".join(f'<td style="{CELL}">{short(cell, _WIDEST)}</td>' for cell in rest)
