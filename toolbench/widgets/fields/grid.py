"""A column of fields, with all labels, help and errors in one HTML widget."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ipywidgets import HTML, GridBox, Widget

from toolbench.display.escape import Html


class Entry(NamedTuple):
    """One line of a form: text above, the widgets, text below.

    Attributes:
        head: The text above.
        cells: The widgets, next to each other.
        note: The text below.
        is_short: Whether half the width is enough, in a grid of two columns.
    """

    head: Html
    cells: tuple[Widget, ...]
    note: Html
    is_short: bool = False


class Grid:
    """A CSS grid of entries.

    One HTML widget has the texts of all entries; CSS (`grid-row`) places each text between
    the widgets. So a label, a help text or an error needs no widget, and a new error does
    not change the input beside it.
    """

    def __init__(self, make: Callable[..., Any], *classes: str, lines: "Lines") -> None:
        """Create the widgets with *make* and show *lines*; *classes* style the box."""
        cells, html = lines
        self._texts = make(HTML, "tb-texts", value=html)
        children = (self._texts, *cells)
        self.widget = make(GridBox, "tb-grid", *classes, children=children)

    def show(self, lines: "Lines") -> None:
        """Replace all lines by *lines*; only changes are sent to the page."""
        cells, html = lines
        children = (self._texts, *cells)
        if self.widget.children != children:
            self.widget.children = children
        if self._texts.value != html:
            self._texts.value = html


class Lines(NamedTuple):
    """The content of a grid: its widgets in order, and the texts between them."""

    cells: tuple[Widget, ...]
    html: str


def arrange(intro: Html, entries: Iterable[Entry]) -> Lines:
    """Return the widgets and texts for a grid: *intro* first, then the *entries*.

    The browser puts each widget into the next row that has no text. On a narrow page, two
    short entries are below each other. On a wide page they are beside each other, and each
    note spans three rows.
    """
    texts = [f'<div class="tb-intro" style="grid-row:1">{intro}</div>']
    widgets: list[Widget] = []
    row = 2
    for group in _pairs(entries):
        widgets += [cell for entry in group for cell in entry.cells]
        if len(group) == 2:
            texts += _notes_of_pair(row, [entry.note for entry in group])
            row += 4
            continue
        head, cells, note, is_short = group[0]
        if head:
            texts.append(f'<div class="tb-head" style="grid-row:{row}">{head}</div>')
            row += 1
        # Keeps the place beside it empty
        if is_short:
            texts.append(f'<div class="tb-blank" style="grid-row:{row}"></div>')
        row += bool(cells)
        texts.append(f'<div class="tb-note" style="grid-row:{row}">{note}</div>')
        row += 1
    return Lines(tuple(widgets), "".join(texts))


def _pairs(entries: Iterable[Entry]) -> Iterator[tuple[Entry, ...]]:
    """Yield two adjacent short entries as a pair, and every other entry alone."""
    first: Entry | None = None
    for entry in entries:
        if first is not None and entry.is_short:
            yield first, entry
            first = None
        elif entry.is_short:
            first = entry
        else:
            yield from [(first,)] if first is not None else []
            first = None
            yield (entry,)
    if first is not None:
        yield (first,)


def _notes_of_pair(row: int, notes: Iterable[Html]) -> Iterator[str]:
    """Yield the notes of two short fields that share a line; the first field is in *row*."""
    for place, (side, note) in enumerate(zip(("left", "right"), notes, strict=True)):
        below = row + 1 + 2 * place
        style = f"--below:{below};--beside:{row + 1}/span 3"
        yield f'<div class="tb-note tb-{side}" style="{style}">{note}</div>'
