"""The base class of what a cell shows: a panel, a bench, an explorer, a report."""

from collections.abc import Sequence
from typing import Any

import ipywidgets as w

from toolbench.runs.record import RunRecord
from toolbench.widgets.kit.saved_output import SavedOutput
from toolbench.widgets.kit.shown_views import shown_views


class CellView(w.VBox):
    """A widget that a cell shows. It is saved with the notebook, and closed when the cell has run again.

    A subclass says in `_static` what is saved, and in `_close_parts` what is closed. With a method
    `resume(earlier)` it goes on where *earlier* was, which may be closed: what the cell showed before.
    """

    def __init__(self, children: Sequence[w.Widget], *classes: str, use: str = "") -> None:
        """Show *children* below each other; *classes* are more CSS classes.

        Args:
            children: The widgets in the view.
            *classes: CSS classes besides that of every box of ours.
            use: What a person can use again after the cell has run, such as "the form".
        """
        self._made_in = shown_views.cell
        self._saved_output = SavedOutput(use)
        super().__init__(children, _dom_classes=("toolbench-box", *classes))

    @property
    def is_busy(self) -> bool:
        """Whether something runs in the view, so that it must not be closed now."""
        return False

    def _static(self) -> dict[str, Any]:
        """Return the mime bundle of the view as text and HTML that needs no kernel."""
        raise NotImplementedError

    @property
    def _records(self) -> list[RunRecord]:
        """The runs that the HTML of `_static` shows already."""
        return []

    def _close_parts(self) -> None:
        """Stop what the view listens to and runs, and close the widgets in it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the view and all its widgets; what runs in it is cancelled."""
        # It may be closed already; the garbage collector calls this too
        if self.comm is not None:
            self._close_parts()
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shown_views.add(self, self._made_in)
        # First: one that ends meanwhile is rather saved twice than not at all
        records = self._records
        static = self._static()
        if "text/html" in static:
            self._saved_output.show(static["text/html"], records)
        return {**(super()._repr_mimebundle_(**options) or {}), **static}
