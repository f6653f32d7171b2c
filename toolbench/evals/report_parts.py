"""The common parts of all reports: their entries, table, page and file."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from toolbench.display.css import LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import whole_page
from toolbench.errors import MissingExtraError
from toolbench.files import write_named

if TYPE_CHECKING:
    import pandas as pd


class _Entry(Protocol):
    @property
    def error(self) -> str | None: ...


Entry = TypeVar("Entry", bound=_Entry)


class ReportEntries(Sequence[Entry]):
    """The entries of a report, in the order in which they were planned."""

    def __init__(
        self,
        entries: Sequence[Entry],
        *,
        planned: int,
        stopped: str | None,
        notes: Sequence[str],
        seconds: float,
        is_saved: bool,
    ) -> None:
        """Make a report of *entries*, in their order."""
        self._entries = list(entries)
        self.planned = planned
        """The planned number of answers or calls."""
        self.stopped = stopped
        """Why the work ended early: "interrupted", "max_cost", or a sentence; else None."""
        self.seconds = seconds
        """The total time, in seconds."""
        self._notes = tuple(notes)
        self._is_saved = is_saved

    @property
    def _how_to_go_on(self) -> str:
        """The sentence that says how to continue after an early end, with or without `save=`."""
        if self._is_saved:
            return "The same `save=` file continues from here."
        return "It was not saved: with `save=FILE` the next one can continue where it stopped."

    @cached_property
    def errors(self) -> list[Entry]:
        """The failed calls, or the trials without an answer because the model or network failed."""
        return [entry for entry in self._entries if entry.error is not None]

    def _table_columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table, each with a value for each entry."""
        raise NotImplementedError

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a table with a row for each trial or call.

        For a sweep, there is a column for each argument, and for each field of the results.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtraError(extra="pandas") from error
        return pd.DataFrame(self._table_columns())

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        return self._entries[index]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def page(title: str, body: str) -> str:
    """Return *body* as a whole HTML page."""
    return whole_page(escape(title), body, width="70rem")


def heading(title: str, facts: str) -> str:
    """Return the first line of a report: *title*, then *facts* in a faint color."""
    return (
        f'<div style="border-bottom:{LINE};padding:0 0 6px;margin:0 0 10px"><strong>'
        f'{escape(title)}</strong> <span style="{REMARK}">{escape(facts)}</span></div>'
    )


def framed(parts: Iterable[str]) -> Html:
    """Return *parts* of a report as HTML, one below the other in a frame."""
    style = f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:12px 16px"
    return Html(f'<div {NO_MATHS} data-toolbench-report style="{style}">{"".join(parts)}</div>')


def scrolled(table: Html) -> Html:
    """Return *table* in a scrollable frame of limited height."""
    return Html(f'<div data-toolbench-frame style="max-height:32em;overflow:auto">{table}</div>')


def written(text: str, path: str | PathLike[str] | None, *, overwrite: bool) -> str:
    """Return *text*. If *path* is not None, also write the text to this file.

    Raises:
        FileError: If the file has other content and *overwrite* is false, or cannot be written.
    """
    if path is not None:
        # As in a CI job, which may not have the folder yet
        write_named(fspath(path), text, overwrite=overwrite, makes_folder=True)
    return text
