"""The panel's *Save as check*: write a run to a file as a check that expects the run's result."""

import os
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.core.tool_names import ToolAddress
from toolbench.errors import CaseError
from toolbench.runs.kernel import notebook_folder
from toolbench.runs.record import RunRecord
from toolbench.widgets.kit.parts import Parts

# A panel makes its form
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

_NO_RESULT = "There is no result that a check can expect. Run the tool first, with valid arguments"


class CheckForm:
    """The button *Save as check* and the fields for the name and the file of the check.

    Attributes:
        button: The button. It is next to *Save as example*. The fields appear below these buttons.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the button for *panel*."""
        self._panel, self._parts = panel, parts
        # Where the next check is written
        self._file = f"{ToolAddress.of(panel.tool).file_name}.checks.yaml"
        tip = "Keep this call and its result in a file, for %tools check and CI"
        self.button = parts.button("Save as check", self._offer, tip=tip, kind="toolbench-quiet")

    def _offer(self) -> None:
        record = self._panel.runs.shown_record
        if record is None:
            self._panel.controls.refuse(_NO_RESULT, [], judged_elsewhere=False)
        else:
            self.offer_run(record)

    def offer_run(self, record: RunRecord) -> None:
        """Ask for the name and the file of a check that expects the result of *record*."""
        make = partial(self._parts.make, w.Text, "toolbench-field")
        name, file = make(description="Name of the check"), make(description="Its file")
        file.value = self._file
        self._panel.examples.ask(partial(self._save, record, name, file), name, file)

    def _save(self, record: RunRecord, name: Any, file: Any) -> None:
        # Heavy, and seldom needed: PyYAML, and what calls servers
        from toolbench.checks.check_file import ENDING, CheckFile  # noqa: PLC0415
        from toolbench.checks.checks import check_of  # noqa: PLC0415

        # pytest finds only these
        self._file = file.value.strip().removesuffix(ENDING) + ENDING
        path = notebook_folder() / os.path.expanduser(self._file)  # noqa: PTH111 - Path would raise
        try:
            check = CheckFile(path).add(check_of(record, name.value.strip()))
        except CaseError as error:
            self._panel.examples.refuse(str(error))
            return
        words = (
            f"Saved {check.name!r}, which expects the result of run {record.id}, in {path.name}. "
            f"%tools check {quote(self._file)} runs its checks."
        )
        self._panel.examples.tell(words)
