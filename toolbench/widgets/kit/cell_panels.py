"""Close the panels of a cell when the cell is run again."""

from typing import Protocol


class CellPanel(Protocol):
    """A protocol: a panel that is closed when its cell is run again."""

    @property
    def is_busy(self) -> bool:
        """Whether a run is active in the panel."""

    def close(self) -> None:
        """Close the panel and all its widgets."""


class CellPanels:
    """Remembers the open panels of each cell, and closes them when the cell runs again.

    When a cell runs again, the page removes the old output of the cell, with its panel.
    Without this class, the widgets of the panel would stay in the kernel and in the
    page.
    """

    def __init__(self) -> None:
        """Remember no panels yet."""
        self._cell: str | None = None
        self._of: dict[str, list[CellPanel]] = {}
        self._replaced: list[CellPanel] = []

    def begin(self, cell: str | None) -> None:
        """Close the earlier panels of *cell*, which begins to run.

        A panel in which a tool still runs is closed when a later cell begins.

        Args:
            cell: The id that the front end gives the cell; None if the cell has no id.
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
        """Add *panel* to the cell that runs."""
        if self._cell is not None:
            self._of.setdefault(self._cell, []).append(panel)
