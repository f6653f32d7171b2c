"""The panels each cell shows: one that is run again takes those it showed before away."""

from typing import Protocol


class CellPanel(Protocol):
    """What a cell shows and a later run of it takes away."""

    @property
    def is_busy(self) -> bool:
        """Whether something goes on in it."""

    def close(self) -> None:
        """Close it and all its widgets."""


class CellPanels:
    """Panels that only the page holds: it drops them with the output of their cell.

    Their widgets would stay otherwise, in the kernel and in the page, for as long as both last.
    """

    def __init__(self) -> None:
        """Know of no panel, and of no cell."""
        self._cell: str | None = None
        self._of: dict[str, list[CellPanel]] = {}
        self._replaced: list[CellPanel] = []

    def begin(self, cell: str | None) -> None:
        """Close what *cell*, which begins, showed before.

        A panel with a run under way waits for a cell that begins after it.

        Args:
            cell: What the front end calls it; None if it does not say.
        """
        self._cell = cell
        if cell is not None:
            self._replaced += self._of.pop(cell, ())
        busy = [panel for panel in self._replaced if panel.is_busy]
        for panel in self._replaced:
            if panel not in busy:
                panel.close()
        self._replaced = busy

    def add(self, panel: CellPanel) -> None:
        """Note that the cell that runs shows *panel*."""
        if self._cell is not None:
            self._of.setdefault(self._cell, []).append(panel)
