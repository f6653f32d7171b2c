"""Close the views of a cell when the cell has run again; its new views go on where they were."""

from typing import Any

# Earlier views that are remembered, of all cells
_EARLIER = 20


class ShownViews:
    """Remembers which cells made and showed each view, and closes a view when all of these ran again.

    When a cell runs again, the page removes the old output of the cell. Without this class, the
    widgets of its views would stay in the kernel and in the page. A view that the cell shows once
    more stays open, and so does one that another cell made or shows.
    """

    def __init__(self) -> None:
        """Remember no views yet."""
        self.cell: str | None = None
        """The cell that runs, by the id that the front end gave it; None if there is no such cell."""
        self._cells: dict[Any, set[str | None]] = {}
        self._earlier: list[tuple[str, Any]] = []
        """What earlier runs of cells showed, with the cells. A run that fails leaves it to the next."""

    def begin(self, cell: str | None) -> None:
        """Let *cell* begin: what its earlier run made and showed does not count any more.

        Args:
            cell: The id that the front end gives the cell; None if the cell has no id.
        """
        self.cell = cell
        if cell is not None:
            shown = [view for view, cells in self._cells.items() if cell in cells]
            for view in shown:
                self._cells[view].discard(cell)
            earlier = [(cell, view) for view in shown if hasattr(view, "resume")]
            self._earlier = [*self._earlier, *earlier][-_EARLIER:]

    def add(self, view: Any, made_in: str | None) -> None:
        """Remember that the cell that runs shows *view*.

        Args:
            view: An object with `is_busy` and `close`. If it has `resume`, this gets the views that
                an earlier run of the cell showed, until it returns True for one: there *view* goes on.
            made_in: The cell that made the view: what `cell` was then. A view that no cell made
                is never closed here.
        """
        if self.cell is None:
            return
        self._cells.setdefault(view, {made_in}).add(self.cell)
        if hasattr(view, "resume"):
            self._resume(view)

    def _resume(self, view: Any) -> None:
        for entry in self._earlier:
            cell, earlier = entry
            if cell == self.cell and (earlier is view or view.resume(earlier)):
                self._earlier.remove(entry)
                return

    def end(self) -> None:
        """Let the cell end: close the views that no cell has. A busy one waits for a later cell."""
        self.cell = None
        over = [view for view, cells in self._cells.items() if not cells and not view.is_busy]
        for view in over:
            del self._cells[view]
            view.close()


shown_views = ShownViews()
"""The views that the cells of this process show."""
