"""The runs of a panel, one after another: start them, ask their questions, show them."""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Event, RLock
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.runs.control import stop
from toolbench.runs.dialogue import settle
from toolbench.runs.history import history
from toolbench.runs.page import already_answered
from toolbench.runs.perform import start
from toolbench.runs.policy import policy
from toolbench.runs.questions import Answer, Question, decline
from toolbench.runs.record import SESSION, RunRecord
from toolbench.runs.run import Run
from toolbench.threads import have_threads
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.controls import RunControls
from toolbench.widgets.panel.report import RunReport

SWIFT = 0.01
"""The seconds a click waits for the end of its run. If the run ends in this time, only its end is shown."""
_log = logging.getLogger(__name__)


class PanelRuns:
    """The runs of one panel, one at a time.

    Attributes:
        latest: The active run, or the last run; None if there was no run.
        report: The view of the latest run.
        question: The box that shows the questions of the latest run.
        is_closed: Whether `close` was called.
    """

    def __init__(
        self,
        parts: Parts,
        lock: RLock,
        controls: RunControls,
        add: Callable[[Any], object],
        when_over: Callable[[Run], object],
        when_state: Callable[[str], object],
    ) -> None:
        """Make the view for runs. There is no run yet.

        Args:
            parts: The factory of the widgets.
            lock: A lock that is held while the view changes.
            controls: The buttons, which change when a run begins or ends.
            add: A function that shows a new widget beside the buttons.
            when_over: A function that is called with each ended run, after it is shown; its errors
                are logged.
            when_state: A function that is called with the state of the active run after it has
                changed, and with an empty text after the run has ended.
        """
        self._lock, self._controls = lock, controls
        self._when_over, self._when_state = when_over, when_state
        self.latest: Run | None = None
        self.report = RunReport(parts, lock, add)
        self.question = QuestionBox(parts)
        self._last_state = ""
        self._record: RunRecord | None = None
        # The run has a result or a question
        self._news = Event()
        self.is_closed = False

    @property
    def record(self) -> RunRecord | None:
        """The record of the last run that ended; None if no run has ended."""
        run, record = self.latest, self._record
        if run is None or not run.done.is_set():
            return record
        return record if record and record.id == run.id else _record_of(run)

    @property
    def is_busy(self) -> bool:
        """Whether a run is active. A run that does not stop after a cancel does not count."""
        run = self.latest
        return run is not None and not (run.done.is_set() or run.control.is_given_up)

    def start(self, run: Run, timeout: float | None, *, confirm: bool = True) -> None:
        """Start *run* and show it; a run that ends at once is shown only when it has ended.

        Args:
            run: The run.
            timeout: Seconds after which *run* is cancelled.
            confirm: Ask for consent first if the policy requires it.
        """
        self.latest = run
        self._news.clear()
        self.report.expect(run)
        then = self._show_at_once
        go = partial(start, run, timeout=timeout, confirm=confirm, then=then)
        if have_threads():
            go()
            self._news.wait(SWIFT)
        else:
            self._ask_before(run, go, confirm=confirm)
        if self.report.has_result_of(run):
            self.refresh()
            return
        self._controls.settle(is_busy=True)
        self.report.begin(run)
        ticker.watch(self.refresh)
        # Its tick may have come before the watch
        if self.report.has_result_of(run):
            ticker.look_now()

    def _ask_before(self, run: Run, go: Callable[[], object], *, confirm: bool) -> None:
        """Ask for consent if the policy requires it, then call *go*, which starts *run*.

        This is for a Python without threads, where the run itself cannot wait for the
        consent.
        """
        is_asked = run.dialogue.asker is not decline
        run.dialogue.asker = already_answered(decline(Question("", {})))
        if is_asked and run.tool.is_async:
            run.dialogue.desk = self.question.put
        question = policy.question(run) if confirm and is_asked else None
        if question is None:
            go()
            return
        answer = self.question.put(question)
        run.on_cancel(partial(settle, answer, Answer("cancel")))

        def answered(answer: Future[Answer]) -> None:
            run.dialogue.asker = already_answered(answer.result())
            self._controls.expect_click()
            go()

        answer.add_done_callback(answered)

    def ask(self, question: Question) -> Answer:
        """Show *question* of the run, and return the answer of a person."""
        self._news.set()
        run = self.latest
        if run is None:
            return Answer("cancel")
        answer = self.question.ask(question, run)
        if run is self.latest and not run.cancelled:
            self._controls.expect_click()
        return answer

    def cancel(self) -> None:
        """Cancel the shown run, if it is active."""
        if self.report.run is not None:
            stop(self.report.run)

    def recall(self, earlier: RunReport, tool: ToolDefinition[Any, Any]) -> None:
        """Show the run of *earlier*, if there is one, until the first run of this panel.

        If it goes on, it can be cancelled here; it does not keep this panel from its own runs. If it
        waits for an answer, it is cancelled: its question was in the earlier panel.

        Args:
            earlier: The view of an earlier panel.
            tool: The tool of this panel; a run of another one is of the earlier code.
        """
        run = earlier.run
        if run is not None:
            self.report.recall(earlier, tool)
            if self._follow(run):
                ticker.watch(partial(self._follow, run))

    def _follow(self, run: Run) -> bool:
        """Update the view of *run*, which `recall` shows. Return whether it needs more updates."""
        with self._lock:
            if self.report.run is not run or self.is_closed:
                return False
            over = self.report.has_result_of(run)
            if run.state == "waiting":
                self.cancel()
            self._controls.offer_cancel(is_offered=not over)
            self.report.show(run, over=over)
            return not over

    def _tell(self, state: str) -> None:
        """Call `when_state` with *state*, if this is a new one."""
        if state != self._last_state:
            self._last_state = state
            self._when_state(state)

    def refresh(self) -> bool:
        """Update the view of the run. Return whether the run goes on and needs more updates.

        Run is enabled before the page says that the run is over: a person may answer at once.
        """
        with self._lock:
            run = self.latest
            if run is None or self.is_closed:
                return False
            over = self.report.has_result_of(run)
            # A key that is pressed while Run is disabled is lost
            if over or run.control.is_given_up:
                self._controls.settle(is_busy=self.is_busy)
            self.report.show(run, over=over)
            self._tell(run.state if self.is_busy else "")
            if over and (self._record is None or self._record.id != run.id):
                self._record = _record_of(run)
                self._end(run)
            return not over

    def _end(self, run: Run) -> None:
        """Call `when_over` with *run*. An error is logged, because the run itself is over."""
        # Who keeps a run does not keep its panel
        run.dialogue.asker = decline
        try:
            self._when_over(run)
        except Exception:  # noqa: BLE001 - the function is not ours, and the click must go on
            _log.exception("What follows a run of %s failed.", run.tool.name)

    def _show_at_once(self, run: Run) -> None:
        """Prepare the result of *run*, and start the next tick now, which shows the result.

        The thread of *run* calls this.
        """
        self.report.render(run)
        self._news.set()
        ticker.look_now()

    def close(self) -> None:
        """Stop the updates of the view."""
        self.is_closed = True
        self.report.close()


def _record_of(run: Run) -> RunRecord:
    return history().find(run.id, SESSION) or RunRecord.of(run)
