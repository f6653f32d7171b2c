"""What all reports share when they are shown or written: the page, the frame, the file."""

from collections.abc import Iterable
from html import escape as escape_text
from os import PathLike, fspath

from toolbench.display.css import LINE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html
from toolbench.display.page import whole_page
from toolbench.files import write_named


def page(title: str, body: str) -> str:
    """Return *body* as a whole HTML page."""
    return whole_page(escape_text(title), body, width="70rem")


def framed(parts: Iterable[str]) -> Html:
    """Return *parts* of a report as HTML, one below the other in a frame."""
    style = f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:12px 16px"
    return Html(f'<div {NO_MATHS} data-toolbench-report style="{style}">{"".join(parts)}</div>')


def scrolled(table: Html) -> Html:
    """Return *table* in a frame of limited height, in which a person can scroll."""
    return Html(f'<div data-toolbench-frame style="max-height:32em;overflow:auto">{table}</div>')


def written(text: str, path: str | PathLike[str] | None, *, overwrite: bool) -> str:
    """Return *text*. If *path* is not None, also write *text* to the file *path*.

    Raises:
        FileError: If the file has other content and *overwrite* is false, or cannot be written.
    """
    if path is not None:
        write_named(fspath(path), text, overwrite=overwrite)
    return text
