"""Keep the last run of a panel in the notebook, where no kernel and no widget is needed to read it.

A widget's state is not saved by JupyterLab and Notebook. So the cell that shows the panel gets
one more output, hidden by the panel while that is alive, and seen when the notebook is
opened again, converted, or looked at elsewhere.
"""

import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from toolbench.display.escape import Html
from toolbench.runs.record import RunRecord


class Keepsake:
    """An output of the cell a panel was shown in."""

    def __init__(self) -> None:
        """Belong to no cell yet."""
        self._name = f"toolbench-kept-{uuid4().hex[:12]}"
        self._cell: Mapping[str, Any] | None = None
        self._is_there = False

    @property
    def style(self) -> Html:
        """The style sheet that hides the output, for the panel to contain."""
        output = ".jp-OutputArea-child, .output_area, .jp-OutputArea-output"
        return Html(
            f"<style>.{self._name}, :is({output}):has(.{self._name})"
            " { display: none; }</style>"
        )

    def remember_cell(self) -> None:
        """Note the cell that is running: the panel is shown there."""
        publisher = _publisher()
        if publisher is not None:
            self._cell, self._is_there = dict(publisher.parent_header), False

    def keep(self, record: RunRecord) -> None:
        """Have the output hold *record*; from any thread, does nothing outside a kernel."""
        publisher = _publisher()
        if publisher is None or not self._cell:
            return
        content = {
            "data": {
                "text/plain": record.to_text(),
                "text/html": f'<div class="{self._name}">{record.to_html()}</div>',
            },
            "metadata": {},
            "transient": {"display_id": self._name},
        }
        kind = "update_display_data" if self._is_there else "display_data"
        # as display() would in that cell, which is over by now
        publisher.session.send(
            publisher.pub_socket,
            kind,
            content,
            parent=dict(self._cell),
            ident=publisher.topic,
        )
        self._is_there = True


def _publisher() -> Any:
    """What displays in a kernel; None anywhere else."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    publisher = getattr(shell, "display_pub", None)
    return publisher if hasattr(publisher, "pub_socket") else None
