"""A column of fields with all its labels, help and errors in one widget between the lines."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ipywidgets import HTML, GridBox, Widget

from toolbench.display.escape import Html


class Entry(NamedTuple):
    """One line of a form: text above, the widgets, text below."""

    head: Html
    cells: tuple[Widget, ...]
    note: Html


class Grid:
    """Shows entries in a CSS grid.

    The texts of all entries live in one HTML widget whose parts are placed between the
    lines by their `grid-row`. So a label, a help text or an error costs no widget, and an
    error appears without touching the input beside it.
    """

    def __init__(self, make: Callable[..., Any], *classes: str, lines: "Lines") -> None:
        """Create the widgets with *make*, showing *lines*; *classes* style the box."""
        cells, html = lines
        self._texts = make(HTML, "tb-texts", value=html)
        children = (self._texts, *cells)
        self.widget = make(GridBox, "tb-grid", *classes, children=children)

    def show(self, lines: "Lines") -> None:
        """Show *lines* instead; only what changed is sent."""
        cells, html = lines
        children = (self._texts, *cells)
        if self.widget.children != children:
            self.widget.children = children
        if self._texts.value != html:
            self._texts.value = html


class Lines(NamedTuple):
    """What a grid shows: its widgets in their order, and the texts between them."""

    cells: tuple[Widget, ...]
    html: str


def arrange(intro: Html, entries: Iterable[Entry]) -> Lines:
    """Give every widget and every text its place: *intro* first, then the *entries*."""
    texts = [f'<div class="tb-intro" style="grid-row:1">{intro}</div>']
    widgets: list[Widget] = []
    row = 2
    for head, cells, note in entries:
        if head:
            texts.append(f'<div class="tb-head" style="grid-row:{row}">{head}</div>')
            row += 1
        if cells:
            widgets += cells
            row += 1
        texts.append(f'<div class="tb-note" style="grid-row:{row}">{note}</div>')
        row += 1
    return Lines(tuple(widgets), "".join(texts))
