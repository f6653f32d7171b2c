"""*Save as check* of a panel: a run becomes a check in a file, which expects the result of the run."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.core.tool_names import ToolAddress
from toolbench.display.page import notice
from toolbench.errors import CaseError
from toolbench.runs.kernel import notebook_folder
from toolbench.runs.record import RunRecord
from toolbench.values import clip
from toolbench.widgets.kit.clicks import on_enter
from toolbench.widgets.kit.parts import Parts, put

# A panel makes its form
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

_NO_RESULT = "There is no result yet, which a check expects. Run the tool first"


class CheckForm:
    """The button *Save as check*, and the form that asks for the name of the check and its file.

    Attributes:
        button: The button, beside *Save as example*; the form is below that row.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the button for *panel*."""
        self._panel, self._parts = panel, parts
        self._record: RunRecord | None = None
        self._name: Any = None
        self._file: Any = None
        self._said: Any = None
        # Where the last check of this panel was written
        self._last_file = ""
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
        # Heavy, and seldom needed: PyYAML, and what calls servers
        from toolbench.checks.check_file import ENDING  # noqa: PLC0415 - as above

        parts, self._record = self._parts, record
        file = self._last_file or f"{ToolAddress.of(self._panel.tool).file_name}{ENDING}"
        self._name = parts.make(w.Text, "toolbench-field", description="Name of the check")
        self._file = parts.make(w.Text, "toolbench-field", description="Its file", value=file)
        on_enter(self._name, self._save)
        on_enter(self._file, self._save)
        save = parts.button("Save", self._save, look="primary")
        close = parts.button("Close", self._panel.examples.show_below)
        self._said = parts.html(kind="toolbench-told")
        self._panel.examples.show_below(self._name, self._file, save, close, self._said)
        self._name.focus()

    def _save(self) -> None:
        from toolbench.checks.check_file import ENDING, CheckFile  # noqa: PLC0415 - the same
        from toolbench.checks.checks import check_of  # noqa: PLC0415 - the same

        record, name, file = self._record, self._name.value.strip(), self._file.value.strip()
        if record is None:
            return
        if not file.endswith(ENDING):
            words = f"A file of checks is called NAME{ENDING}, not {clip(file)}."
            put(self._said, notice(words, "danger"))
            return
        path = notebook_folder() / Path(file).expanduser()
        try:
            check = CheckFile(path).add(check_of(record, name))
        except CaseError as error:
            put(self._said, notice(str(error), "danger"))
            return
        self._last_file = file
        words = (
            f"Saved {check.name!r}, which expects the result of run {record.id}, in {path.name}."
        )
        words = f"{words} %tools check {quote(_from_here(path))} runs its checks."
        said = self._parts.html(notice(words, "success"), kind="toolbench-told")
        self._panel.examples.show_below(said)


def _from_here(path: Path) -> str:
    """Return *path* as a line of a cell finds it, wherever `%cd` led."""
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return str(path)
