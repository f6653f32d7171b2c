"""The runs of a panel, one after another: their buttons, their questions and their records."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Event, RLock
from time import monotonic
from typing import Any

import ipywidgets as w

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.errors import ended
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
from toolbench.widgets.fields import notes
from toolbench.widgets.form.form import WrongField
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.clicks import QUIET
from toolbench.widgets.kit.parts import HIDDEN, SUBMIT, Parts, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.result import RunReport, RunResult

SWIFT = 0.01
"""The seconds that a click waits for its run to end.

If the run ends in this time, only its end is shown.
"""
# Fields named beside Run
_LINKS = 5
# The style sheet hides it while consent is asked
_CANCEL = "toolbench-cancel"
_log = logging.getLogger(__name__)


class RunControls:
    """The buttons Run, Cancel and "Send anyway". A double click counts as one click.

    Attributes:
        can_run: Whether the tool can run at all.
    """

    def __init__(
        self,
        parts: Parts,
        start: Callable[[bool], bool],
        cancel: Callable[[], object],
    ) -> None:
        """Make the buttons.

        Args:
            parts: The factory of the widgets.
            start: A function that starts a run, and returns whether the run began. Its argument is
                True to send the arguments unchecked, so that the server checks them.
            cancel: A function that cancels the run.
        """
        self._parts, self._start = parts, start
        self._begun = -QUIET
        self.can_run = True
        self._run = parts.button(
            "Run", lambda: self._click(unchecked=False), look="primary", kind=SUBMIT
        )
        kind = f"{_CANCEL} {HIDDEN}"
        self._cancel = parts.button("Cancel", cancel, kind=kind, is_urgent=True, disabled=True)
        self.buttons = [self._run, self._cancel]
        self.notice = parts.make(w.HBox, "toolbench-refusal")
        self._refused: tuple[str, list[str], bool] | None = None

    def settle(self, *, is_busy: bool) -> None:
        """Enable the buttons that can be used now, and disable the others."""
        self._run.disabled = is_busy or not self.can_run
        self.offer_cancel(is_offered=is_busy)

    def offer_cancel(self, *, is_offered: bool) -> None:
        """Show Cancel, or hide it."""
        # One message
        with self._cancel.hold_sync():
            self._cancel.disabled = not is_offered
            show_if(self._cancel, is_shown=is_offered)

    def refuse(self, reason: str, fields: Sequence[WrongField], *, judged_elsewhere: bool) -> None:
        """Show a notice beside Run that says why no run was started.

        Args:
            reason: The reason, without a full stop.
            fields: The fields to fix. The first few become links.
            judged_elsewhere: Whether a server can check the arguments. If so, a button is shown
                that sends the arguments although they do not fit the schema.
        """
        refused = reason, [field.name for field in fields], judged_elsewhere
        if refused == self._refused:
            return
        self.accept()
        self._refused = refused
        text = ended(reason)
        if fields:
            text = f"{reason}:"
        children = [self._parts.html(Html(f'<span class="toolbench-wrong">{escape(text)}</span>'))]
        for field in fields[:_LINKS]:
            name = notes.label(field.name)
            link = self._parts.button(name, field.focus, tip="Go to", kind="toolbench-link")
            children.append(link)
        if len(fields) > _LINKS:
            children.append(self._parts.html(escape(f"and {len(fields) - _LINKS} more")))
        if judged_elsewhere:
            send = partial(self._click, unchecked=True)
            tip = "Send it unchanged: the server will check it"
            children.append(self._parts.button("Send anyway", send, tip=tip))
        self.notice.children = children

    @property
    def is_refusing(self) -> bool:
        """Whether the notice is shown."""
        return bool(self.notice.children)

    def accept(self) -> None:
        """Remove the notice that `refuse` shows."""
        removed, self.notice.children = self.notice.children, ()
        self._parts.drop(removed)
        self._refused = None

    def expect_click(self) -> None:
        """Let the next click start a run, even if it follows the last click quickly.

        Usually, a click shortly after another one is ignored, because it may be part of a double
        click. Call this method after the user has given an answer or edited a field, because the
        next click is then not part of a double click.
        """
        self._begun = -QUIET

    def _click(self, *, unchecked: bool) -> None:
        if monotonic() - self._begun < QUIET:
            # The second click of a double click, after a quick run
            return
        before = self._begun
        # Before the start, because a run may ask and get an answer at once
        self._begun = monotonic()
        if not self._start(unchecked):
            self._begun = before


class PanelRuns:
    """The runs of one panel, one at a time.

    Attributes:
        latest: The active run, or else the last run; None if no run has been started.
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
        """Make the view, without a run.

        Args:
            parts: The factory of the widgets.
            lock: A lock that is held while the view changes.
            controls: The buttons, which change when a run begins or ends.
            add: A function that shows a new widget beside the buttons.
            when_over: A function that is called with each run that has ended, after the run is
                shown. Its errors are logged.
            when_state: A function that is called with the active run's state whenever it changes.
                After the run has ended, it is called with an empty string.
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
        if record is None or record.id != run.id:
            return _record_of(run)
        return record

    @property
    def shown_record(self) -> RunRecord | None:
        """The record of the displayed run; None if the run is active, or was sent unchecked."""
        run = self.report.run
        if run is None or not run.done.is_set() or run.unchecked:
            return None
        return _record_of(run)

    @property
    def is_busy(self) -> bool:
        """Whether a run is active. A run that ignores its cancellation does not count."""
        run = self.latest
        return run is not None and run.is_going_on

    def start(self, run: Run, timeout: float | None, *, confirm: bool = True) -> None:
        """Start *run* and show it. If it ends within `SWIFT` seconds, show only its result.

        Args:
            run: The run.
            timeout: The number of seconds after which *run* is cancelled.
            confirm: Whether to ask for consent if the policy requires it.
        """
        self.latest = run
        self._news.clear()
        then = partial(self._show_at_once, self.report.expect(run))
        go = partial(start, run, timeout=timeout, confirm=confirm, then=then)
        if have_threads():
            go()
            self._news.wait(SWIFT)
        else:
            self._ask_before(run, go, confirm=confirm)
        if self.report.is_ready:
            self.refresh()
            return
        self._controls.settle(is_busy=True)
        self.report.begin()
        ticker.watch(self.refresh)
        # Its tick may have come before the watch
        if self.report.is_ready:
            ticker.look_now()

    def _show_at_once(self, result: RunResult, _: Run) -> None:
        """Prepare *result* in the thread of its run, then make the ticker show it now.

        The run may be an earlier one, which ignored its cancellation and ends only now.
        """
        result.prepare()
        self._news.set()
        ticker.look_now()

    def refresh(self) -> bool:
        """Update the view of the run. Return whether more updates are needed.

        The button Run is enabled before the result is shown. Otherwise, a user who sees the result
        could click Run while the button is still disabled, and the click would be lost.
        """
        with self._lock:
            run = self.latest
            if run is None or self.is_closed:
                return False
            over = self.report.is_ready
            # A key that is pressed while Run is disabled is lost
            if over or run.control.is_given_up:
                self._controls.settle(is_busy=self.is_busy)
            elif run.done.is_set():
                self._controls.offer_cancel(is_offered=False)
            self.report.show(over=over)
            self._tell_state(run)
            if over and (self._record is None or self._record.id != run.id):
                self._record = _record_of(run)
                self._end(run)
            return not over

    def _tell_state(self, run: Run) -> None:
        state = ""
        if self.is_busy:
            state = run.state
        if state != self._last_state:
            self._last_state = state
            self._when_state(state)

    def _end(self, run: Run) -> None:
        """Call the function `when_over` with *run*, and log its error if it fails."""
        # A reference to a run must not keep its panel alive
        run.dialogue.asker = decline
        try:
            self._when_over(run)
        except Exception:  # noqa: BLE001 - the function is not ours, and the click must go on
            _log.exception("What follows a run of %s failed.", run.tool.name)

    def cancel(self) -> None:
        """Cancel the displayed run, if it is active."""
        if self.report.run is not None:
            stop(self.report.run)

    # --- questions --------------------------------------------------------------------

    def ask(self, question: Question) -> Answer:
        """Show *question* of the run, and return the user's answer."""
        self._news.set()
        run = self.latest
        if run is None:
            return Answer("cancel")
        answer = self.question.ask(question, run)
        if run is self.latest and not run.cancelled:
            self._controls.expect_click()
        return answer

    def _ask_before(self, run: Run, go: Callable[[], object], *, confirm: bool) -> None:
        """In a Python without threads, ask for consent, then call *go*, which starts *run*.

        Without threads, the run itself cannot wait for the answer. If the policy does not require
        consent, call *go* at once.
        """
        is_asked = run.dialogue.asker is not decline
        run.dialogue.asker = already_answered(decline(Question("", {})))
        if is_asked and run.tool.is_async:
            run.dialogue.desk = self.question.put
        question = None
        if confirm and is_asked:
            question = policy.question(run)
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

    # --- the run of an earlier panel --------------------------------------------------

    def recall(self, earlier: RunReport, tool: ToolDefinition[Any, Any]) -> None:
        """Show the run of an earlier panel, if it has one, until this panel starts a run.

        If the earlier run is still active, the user can cancel it in this panel, or start a new
        run. If the earlier run is waiting for an answer, it is cancelled, because its question was
        shown in the earlier panel.

        Args:
            earlier: The view of the earlier panel's run.
            tool: The tool of this panel. If the earlier run used another definition of the tool, it
                is marked as a run of the earlier code.
        """
        run = earlier.run
        if run is not None:
            self.report.recall(earlier, tool)
            if self._follow(run):
                ticker.watch(partial(self._follow, run))

    def _follow(self, run: Run) -> bool:
        """Update the view of *run*, which `recall` has shown. Return whether to update it again."""
        with self._lock:
            if self.report.run is not run or self.is_closed:
                return False
            over = self.report.is_ready
            if run.state == "waiting":
                self.cancel()
            self._controls.offer_cancel(is_offered=not run.done.is_set())
            self.report.show(over=over)
            return not over

    def close(self) -> None:
        """Stop the updates of the view."""
        self.is_closed = True
        self.report.close()


def _record_of(run: Run) -> RunRecord:
    return history().find(run.id, SESSION) or RunRecord.of(run)
