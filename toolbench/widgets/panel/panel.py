"""The panel of one tool: its form, its runs and its results."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import RLock
from typing import Any
from weakref import WeakSet

import ipywidgets as w

from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.display.objects import tool_bundle, tool_html
from toolbench.display.page import notice
from toolbench.runs.background import active
from toolbench.runs.engine import start
from toolbench.runs.history.history import history
from toolbench.runs.history.record import RunRecord
from toolbench.runs.input_prompt import somebody_there
from toolbench.runs.kernel_loop.loop_runs import already_answered
from toolbench.runs.policy import policy
from toolbench.runs.questions import Answer, Asker, Question, decline
from toolbench.runs.run import Run
from toolbench.threads import have_threads
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.form.question import QuestionBox, settle
from toolbench.widgets.kit.parts import STYLE, Parts, show_if
from toolbench.widgets.kit.saved_output import SavedOutput
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.controls import RunControls
from toolbench.widgets.panel.dropped_values import dropped, dropped_html
from toolbench.widgets.panel.report import RunReport
from toolbench.widgets.panel.run_state import limits_html
from toolbench.widgets.panel.submission import Submission
from toolbench.widgets.panel.tabs import PanelTabs

open_panels: "WeakSet[ToolPanel]" = WeakSet()


class ToolPanel(w.VBox):
    """A form to run and cancel a tool, and its result. Callbacks may come on any thread."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None = None,
        *,
        action: Action | None = None,
        timeout: float | None = None,
        risk: SecurityRisk | None = None,
    ) -> None:
        """Open *tool* with *arguments* in the form.

        Args:
            tool: The tool.
            arguments: The form's values at the start.
            action: The action already built from *arguments*: the first run uses it if the
                form still has these values.
            timeout: Seconds after which a run is cancelled.
            risk: The model's rating of the call, if any; HIGH asks before it runs.
        """
        self._lock = RLock()
        self._parts = parts = Parts()
        self._timeout = timeout
        self._risk = risk
        self._run: Run | None = None
        self._record: RunRecord | None = None
        self._saved_output = SavedOutput()
        self.when_over: Callable[[], object] = self._keep
        """Called when a run has ended and is shown."""
        self._head = parts.html()
        self._stale = parts.row()
        limits = limits_html(tool)
        self._report = RunReport(parts, self._lock)
        self._question = QuestionBox(parts)
        self._tabs = PanelTabs(self, parts, self._lock)
        self._controls = controls = RunControls(parts, self._run_by_click, self.cancel)
        super().__init__(
            [
                *(self._head, self._stale, self._tabs.widget),
                parts.row(*controls.buttons, controls.notice, *self._report.status),
                *([parts.html(limits)] if limits else []),
                *(self._question.widget, self._report.widget),
            ],
            _dom_classes=("toolbench-box", "toolbench-panel"),
        )
        self._tabs.widget.observe(lambda _: self._place_result(), "selected_index")
        self._show(tool, arguments, action)
        open_panels.add(self)

    # --- the content ------------------------------------------------------------------

    @property
    def tool(self) -> ToolDefinition[Any, Any]:
        """The tool."""
        return self._submission.tool

    @property
    def form(self) -> SchemaForm:
        """The form; `form.value` are the arguments of the next run."""
        return self._submission.form

    @property
    def result(self) -> Observation | None:
        """The observation of the last run, once it has ended."""
        return self._run.observation if self._run is not None else None

    @property
    def record(self) -> RunRecord | None:
        """The record of the last run that ended."""
        run, record = self._run, self._record
        if run is None or not run.done.is_set():
            return record
        return record if record and record.id == run.id else _record_of(run)

    @property
    def is_busy(self) -> bool:
        """Whether a run goes on; a run that does not stop after a cancel does not count."""
        run = self._run
        return run is not None and not (run.done.is_set() or run.is_stuck)

    def _show(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None,
        action: Action | None = None,
    ) -> None:
        self._submission = Submission(tool, arguments, action)
        self.form.observe(lambda _: self._edited())
        self._head.value = STYLE + tool_html(tool, self._risk)
        self._tabs.show(self.form)
        self._controls.accept()
        self._settle()

    def _place_result(self) -> None:
        """Show the result only under the tabs of the call, not under other tabs."""
        show_if(self._report.widget, is_shown=self._tabs.is_at_call)

    def put_back(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments* and show it."""
        self.form.value = dict(arguments)
        self._tabs.to_form()

    def _edited(self) -> None:
        """Update the notice beside Run until there are no errors."""
        self._controls.edited()
        if not self._controls.is_refusing:
            return
        if self.form.errors:
            self._refuse(self._submission.refusal())
        else:
            self._controls.accept()

    # --- running ----------------------------------------------------------------------

    def run(
        self,
        *,
        confirm: bool = True,
        unchecked: bool = False,
        timeout: float | None = None,
    ) -> Run | None:
        """Start a run with the form's values, unless a run goes on already.

        Under nbconvert, nbval and papermill no person can answer: questions are declined unless
        they were answered in advance.

        Args:
            confirm: Ask for consent first if the policy requires it.
            unchecked: Also send arguments that do not fit the schema, for a server to check.
            timeout: Seconds after which the run is cancelled; if left out, the panel's own limit.
        """
        asker = self._ask if somebody_there() else decline
        with self._lock:
            run = self._new_run(asker, unchecked=unchecked)
            if run is not None:
                self._start(run, timeout or self._timeout, confirm=confirm)
        return run

    def _run_by_click(self, unchecked: bool) -> bool:  # noqa: FBT001 - what the controls call
        with self._lock:
            run = self._new_run(self._ask, unchecked=unchecked)
            if run is not None:
                self._start(run, self._timeout)
            elif not self.is_busy:
                self.form.reveal_errors(focus=True)
        return run is not None

    def when_quiet(self, act: Callable[[], object]) -> None:
        """Call *act* once the last typed keys have arrived."""
        self._controls.when_quiet(act)

    def _new_run(self, asker: Asker, *, unchecked: bool) -> Run | None:
        """Return a run of the form's values; show a notice and return None if it cannot start."""
        if self.is_busy:
            return None
        self._refresh()  # the last tick may not have come yet
        run = self._submission.run(asker, self._risk, unchecked=unchecked)
        if isinstance(run, Run):
            self._controls.accept()
            return run
        self._refuse(run)
        return None

    def _refuse(self, reason: str) -> None:
        self._controls.refuse(
            reason,
            self.form.wrong_fields(),
            judged_elsewhere=self._submission.is_judged_elsewhere,
        )

    def _start(self, run: Run, timeout: float | None, *, confirm: bool = True) -> None:
        self._run = run
        self._controls.settle(is_busy=True, can_run=True)
        if not self._tabs.is_at_call:
            self._tabs.to_form()
        self._report.begin(run)
        then = self._show_at_once
        go = partial(start, run, timeout=timeout, confirm=confirm, then=then)
        if have_threads():
            go()
        else:
            self._ask_before(run, go, confirm=confirm)
        ticker.watch(self._refresh)

    def _ask_before(self, run: Run, go: Callable[[], object], *, confirm: bool) -> None:
        """Ask for consent, if needed, then call *go*: without threads no run can wait for it."""
        is_asked = run.asker is not decline
        run.asker = already_answered(decline(Question("", {})))
        if is_asked and run.tool.is_async:
            run.desk = self._question.put
        question = policy.question(run) if confirm and is_asked else None
        if question is None:
            go()
            return
        answer = self._question.put(question)
        run.on_cancel(partial(settle, answer, Answer("cancel")))

        def answered(answer: Future[Answer]) -> None:
            run.asker = already_answered(answer.result())
            self._controls.expect_click()
            go()

        answer.add_done_callback(answered)

    def cancel(self) -> None:
        """Cancel the run, if one goes on."""
        if self._run is not None:
            active.stop(self._run)

    def _ask(self, question: Question) -> Answer:
        run = self._run
        answer = self._question.ask(question, lambda: run is None or run.cancelled)
        if run is self._run and run is not None and not run.cancelled:
            self._controls.expect_click()
        return answer

    def _refresh(self) -> bool:
        """Update the view of the run; return whether to call this again."""
        with self._lock:
            run = self._run
            if run is None or self.comm is None:
                return False
            over = self._report.show(run)
            if run.is_stuck:
                self._settle()
            if over and (self._record is None or self._record.id != run.id):
                self._finish(run)
            return not over

    def _show_at_once(self, run: Run) -> None:
        """Prepare the result of *run*, in its thread, and have it shown without waiting for a tick."""
        self._report.render(run)
        ticker.look_now()

    def _finish(self, run: Run) -> None:
        self._settle()
        if run.problems:
            self.form.show_problems(list(run.problems))
        self._tabs.refresh_history()
        self._record = _record_of(run)
        self.when_over()

    def _keep(self) -> None:
        if self._record is not None:
            still = tool_bundle(self.tool)["text/html"]
            self._saved_output.keep(still, [self._record])

    def _settle(self) -> None:
        can_run = self.tool.executor is not None
        self._controls.settle(is_busy=self.is_busy, can_run=can_run)

    # --- when the tool was defined again ------------------------------------------------

    def look_for_news(self) -> None:
        """Show a notice with a button to reload the tool, if it was defined again."""
        with self._lock:
            if self._stale.children or self.tool.latest() is self.tool:
                return
            reload_button = self._parts.button("Reload", look="info")
            reload_button.on_click(lambda _: self.when_quiet(self.reload))
            message = "The tool changed. This panel shows the previous version."
            self._stale.children = [
                self._parts.html(notice(message, "warning")),
                reload_button,
            ]

    def reload(self) -> None:
        """Switch to the latest definition of the tool and keep the form's values.

        Values for arguments that the new definition lacks are removed, and listed above the form.
        """
        with self._lock:
            entered, old, new = self.form.value, self.form, self.tool.latest()
            left_out_values = dropped(self.tool, new, entered)
            left_out = dropped_html(left_out_values, old.masked)
            self._parts.drop(self._stale.children)
            self._stale.children = ()
            self._show(
                new, {k: v for k, v in entered.items() if k not in left_out_values}
            )
            self._head.value += left_out
            self._report.outdate()
            old.close()

    def close(self) -> None:
        """Close the panel and all its widgets; a run is cancelled."""
        if self in open_panels:  # the garbage collector calls this too
            open_panels.discard(self)
            self.cancel()
            with self._lock:
                self._report.close()
                self._tabs.close()
                self.form.close()
                self._parts.close()
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = tool_bundle(self.tool, self.form.masked)
        records = [record] if (record := self.record) else []
        static["text/html"] += "".join(record.to_html() for record in records)
        self._saved_output.show(static["text/html"], records)
        return {**(super()._repr_mimebundle_(**options) or {}), **static}


def _record_of(run: Run) -> RunRecord:
    return history().find(run.id) or RunRecord.of(run)
