"""The panel of one tool: its form, its runs and its results."""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import RLock
from typing import Any
from weakref import WeakSet

from toolbench.core.registry import the_tool
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.display.escape import Html
from toolbench.display.objects import tool_bundle, tool_html
from toolbench.llm.tokens import offer_of, quick_count
from toolbench.redaction.detect import SecretsByPath, hidden_in
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.questions import Asker, decline
from toolbench.runs.record import RunRecord, lost_words
from toolbench.runs.run import Run
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.controls import RunControls
from toolbench.widgets.panel.panel_runs import PanelRuns
from toolbench.widgets.panel.reload import Staleness, kept, with_secrets
from toolbench.widgets.panel.run_state import limits_html
from toolbench.widgets.panel.submission import Submission
from toolbench.widgets.panel.tabs import PanelTabs
from toolbench.widgets.panel.views import MAX_RUNS, CopyButton

open_panels: "WeakSet[ToolPanel]" = WeakSet()


class ToolPanel(LiveView):
    """The panel of a tool: a form to run the tool, and the result.

    Any thread may call the callbacks of the panel.

    Attributes:
        submission: The form, and the part that makes runs from the values in the form.
        runs: The runs, one at a time: their view, questions and records.
        controls: The buttons, and the notice that says why no run was started.
        copy_button: The button that copies the call.
        staleness: The notice that the tool or its class was defined again, with a button to reload
            the tool.
        lock: A lock that is held while a callback changes the panel.
        sent_secrets: The secrets of earlier runs, by their start; `put_back_run` puts them back.
    """

    submission: Submission

    def __init__(
        self,
        tool: ToolDefinition[Any, Any] | Tool | str,
        arguments: Mapping[str, Any] | None = None,
        *,
        action: Action | None = None,
        timeout: float | None = None,
        risk: SecurityRisk | None = None,
        when_state: Callable[[str], object] = lambda state: None,
        when_over: Callable[[RunRecord], object] | None = None,
    ) -> None:
        """Open *tool* with *arguments* in the form.

        Args:
            tool: The tool; a name or a spec finds it as in `run_tool`.
            arguments: The form's values at the start.
            action: The action, if it was built from *arguments* already. The first run uses it
                if the form still has these values.
            timeout: Seconds after which a run is cancelled.
            risk: The model's rating of the call, if any. For HIGH a person is asked before the run.
            when_state: Called with the state of the run after each change of it, and with an empty
                text after its end.
            when_over: Called with the record of each run that has ended and is shown. If it is None,
                the result is kept in the saved notebook.

        Raises:
            ToolNotFoundError: If there is no tool of that name.
            TypeError: If *tool* is not a tool, a name or a spec.
        """
        tool = the_tool(tool)
        self.lock = RLock()
        parts = Parts()
        self._parts = parts
        self._timeout = timeout
        self._risk = risk
        self._when_over = when_over
        # Made once
        self._tool_html: Html | None = None
        self._late: list[Any] = []
        # Those that the form hid, by the start of their run: in memory only, and nowhere shown
        self.sent_secrets: dict[datetime, SecretsByPath] = {}
        self.staleness = Staleness(self, parts)
        self.controls = controls = RunControls(parts, self._run_by_click, self.cancel)
        self.runs = runs = PanelRuns(parts, self.lock, controls, self._add, self._over, when_state)
        self.copy_button = CopyButton(self, parts)
        self._take(tool, arguments, action)
        self._head = parts.html(self._head_html(), kind="toolbench-title")
        self._bar = parts.row(*self._beside_run(), kind="toolbench-actions")
        self._tabs = PanelTabs(self, parts, self.lock)
        upper = self._head, self.staleness.notice, self._tabs.widget, self._bar
        limits = limits_html(tool)
        super().__init__(
            parts,
            self.lock,
            [
                parts.column(*upper, kind="toolbench-card"),
                *([parts.html(limits)] if limits else []),
                *(runs.question.widget, runs.report.widget),
            ],
            "toolbench-panel",
            use="the form",
        )
        self._tabs.when_at_call(runs.report.widget)
        open_panels.add(self)
        self.staleness.check()

    @property
    def tool(self) -> ToolDefinition[Any, Any]:
        """The tool of the panel."""
        return self.submission.tool

    @property
    def form(self) -> SchemaForm:
        """The form. The arguments of the next run are `form.value`."""
        return self.submission.form

    @property
    def result(self) -> Observation | None:
        """The observation of the last run; None if there was no run, or if the run has not ended."""
        return None if self.runs.latest is None else self.runs.latest.observation

    @property
    def record(self) -> RunRecord | None:
        """The record of the last run that ended; None if no run has ended."""
        return self.runs.record

    @property
    def is_busy(self) -> bool:
        """Whether a run is active. A run that does not stop after a cancel does not count."""
        return self.runs.is_busy

    def show(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
    ) -> None:
        """Show *tool*, with *arguments* in a new form."""
        self._take(tool, arguments)
        self._tool_html = None
        self._head.value = self._head_html()
        self._bar.children = self._beside_run()
        self._tabs.renew()

    def go_on(self, tool: ToolDefinition[Any, Any], form: SchemaForm) -> None:
        """Fill the form with what was typed in *form*, the form of *tool*, which was defined again.

        What this panel's tool does not take any more is listed above the form.
        """
        typed, remark = kept(tool, form, self.tool)
        self.form.take_over(typed, form.json_draft)
        self._head.value = self._head_html(remark)
        self.runs.report.compare(self.form.value)

    def resume(self, earlier: Any) -> bool:
        """Go on with what was typed in *earlier*, and show its last result.

        *earlier* is what the cell showed before it ran again. Return False if that is not a panel of
        this tool, or if this panel was filled or used already.
        """
        if not isinstance(earlier, ToolPanel) or self.runs.latest or not self.form.is_blank:
            return False
        if ToolAddress.of(earlier.tool) != ToolAddress.of(self.tool):
            return False
        with self.lock:
            self.sent_secrets = earlier.sent_secrets
            self.runs.recall(earlier.runs.report, self.tool)
            self.go_on(earlier.tool, earlier.form)
        return True

    def _take(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None,
        action: Action | None = None,
    ) -> None:
        """Make the form of *tool*, with *arguments*; enable Run if *tool* can run.

        If *action* was built from *arguments* already, the first run uses it.
        """
        self.submission = Submission(tool, arguments, action, self.controls)
        self.form.frame.pool.borrow(self._parts)
        self.form.observe(lambda change: self.runs.report.compare(change.new))
        self.controls.can_run = tool.executor is not None
        self.controls.settle(is_busy=self.is_busy)

    def _beside_run(self) -> list[Any]:
        """Return the widgets of the row with Run."""
        controls = self.controls
        return [
            *(*controls.buttons, controls.notice, *self.runs.report.status),
            *(self.copy_button.button, self.form.options_button(), *self._late),
        ]

    def _add(self, widget: Any) -> None:
        """Show *widget* in the row with Run, where the style sheet puts it.

        It is the last child, because the page draws all children after a new one again: one that
        had the focus would lose it.
        """
        self._late.append(widget)
        self._bar.children = (*self._bar.children, widget)

    def _head_html(self, remark: str = "") -> Html:
        return Html(PANEL + _head_html(self.tool, self._risk) + remark)

    def put_back(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments*, and open the tab with the form."""
        self.form.value = dict(arguments)
        self._tabs.to_form()

    def put_back_run(self, record: RunRecord) -> None:
        """Fill the form with the arguments of *record*, and open the tab with the form.

        The record did not keep secrets. Those that were sent from this panel are put back, if their
        fields hide them; what is still missing is named beside Run until the form is edited.
        """
        secrets = self.sent_secrets.get(record.started, {})
        arguments = with_secrets(self.tool, record, secrets)
        lost = [name for name in record.lost if arguments[name] == record.arguments[name]]
        self.put_back({name: value for name, value in arguments.items() if name not in lost})
        if lost:
            self.form.reveal_errors()
            fields = self.form.wrong_fields()
            words = f"{lost_words(record, [repr(name) for name in lost])} Type them again"
            self.controls.refuse(words, fields, judged_elsewhere=False)

    def edit(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments*, and put the cursor into its first field."""
        self.put_back(arguments)
        self.form.focus()

    def run(
        self,
        *,
        confirm: bool = True,
        unchecked: bool = False,
        timeout: float | None = None,
    ) -> Run | None:
        """Start a run with the form's values, and return the run.

        Return None if a run is active already, or if the form's values cannot be sent.
        Under nbconvert, nbval and papermill no person can answer: questions are
        declined unless they were answered in advance.

        Args:
            confirm: Ask for consent first if the policy requires it.
            unchecked: Also send arguments that do not fit the schema, for a server to check.
            timeout: Seconds after which the run is cancelled. By default, the panel's own limit.
        """
        asker = self.runs.ask if can_ask_in_cell() else decline
        return self._start(asker, timeout, confirm=confirm, unchecked=unchecked)

    def _run_by_click(self, unchecked: bool) -> bool:  # noqa: FBT001 - what the controls call
        with self.lock:
            run = self._start(self.runs.ask, unchecked=unchecked)
            if run is None and not self.is_busy:
                self.form.reveal_errors(focus=True)
        return run is not None

    def _start(
        self,
        asker: Asker,
        timeout: float | None = None,
        *,
        confirm: bool = True,
        unchecked: bool,
    ) -> Run | None:
        with self.lock:
            if self.is_busy:
                return None
            # The last tick may not have come yet
            self.runs.refresh()
            run = self.submission.run(asker, self._risk, unchecked=unchecked)
            if run is not None:
                self._remember_secrets(run)
                if not self._tabs.is_at_call:
                    self._tabs.to_form()
                self.runs.start(run, timeout or self._timeout, confirm=confirm)
            return run

    def _remember_secrets(self, run: Run) -> None:
        """Keep the secrets of *run* for `put_back_run`."""
        try:
            secrets = hidden_in(run.arguments, self.form.masked)
        except RecursionError:
            # Too deep to be looked through
            return
        if secrets:
            self.sent_secrets[run.started] = secrets
            for earliest in [*self.sent_secrets][:-MAX_RUNS]:
                del self.sent_secrets[earliest]

    def cancel(self) -> None:
        """Cancel the active run, if there is one."""
        self.runs.cancel()

    def _over(self, run: Run) -> None:
        """Show the problems of the ended *run* in the form, and keep its result."""
        if run.problems:
            self.form.show_problems(list(run.problems))
        self._tabs.entitle()
        if self._when_over is None:
            self.keep()
        elif self.record is not None:
            self._when_over(self.record)

    @property
    def still(self) -> Html:
        """The tool as HTML."""
        if self._tool_html is None:
            self._tool_html = Html(tool_bundle(self.tool)["text/html"])
        return self._tool_html

    def _release(self) -> None:
        open_panels.discard(self)
        # Not the run of an earlier panel
        if self.is_busy:
            self.cancel()
        with self.lock:
            self.runs.close()
            self._tabs.close()
            self.form.close()

    def __repr__(self) -> str:
        return (
            # ipywidgets would write out every child
            f"<ToolPanel of {self.tool.name}>"
        )

    def _static(self) -> dict[str, Any]:
        static = tool_bundle(self.tool, self.form.masked)
        static["text/html"] += "".join(record.to_html() for record in self._records)
        return static

    @property
    def _records(self) -> list[RunRecord]:
        return [] if self.record is None else [self.record]


def _head_html(tool: ToolDefinition[Any, Any], risk: SecurityRisk | None) -> Html:
    """Return the head of the panel of *tool*. If a model may get the tool, the head shows its tokens."""
    try:
        cost = str(quick_count(offer_of(tool))) if tool.is_for_models else ""
    except Exception:  # noqa: BLE001 - a tool's own export; the Schema tab shows its error
        cost = ""
    return tool_html(tool, risk, cost=cost)
