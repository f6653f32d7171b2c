"""The live reports of evaluations, sweeps and checks, whose calls open in their tools' panels."""

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any, cast

from toolbench.agent.events import MessageEvent
from toolbench.agent.transcript import other_html
from toolbench.checks.report import CheckReport, CheckResult, checks_html, shown_results
from toolbench.core.content import TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.display.differences import differences_html
from toolbench.display.escape import Html, escape
from toolbench.display.live_results import live_results
from toolbench.display.observations import result_html
from toolbench.display.page import Tone, badge, fold, key_values, notice, section, short
from toolbench.errors import CaseError
from toolbench.evals.report import EvalReport
from toolbench.evals.report_html import (
    answer_text,
    comparison_html,
    lint_html,
    overview_html,
    shown_answers,
)
from toolbench.evals.sweep_report import SweepReport, shown_rows, sweep_html
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.runs.record import is_lost
from toolbench.widgets.kit.parts import PANEL, Parts, on_pick, put, show_if
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel

# The most calls of one answer that get a panel
_MOST = 10


class OpenedTrial:
    """The transcript of one trial: a model's answer to a case, with a panel for each call."""

    def __init__(self, trial: Trial, report: EvalReport) -> None:
        """Open *trial* of *report*. The user can run its calls in their panels."""
        self.trial = trial
        self._parts = parts = Parts()
        self._panels: list[ToolPanel] = []
        children = [parts.html(_head_html(trial, report))]
        for number, call in enumerate(trial.calls, 1):
            children += self._call(number, call, report)
        children.append(parts.html(lint_html(trial, report)))
        self.widget = parts.column(*children)

    def _call(self, number: int, call: Json, report: EvalReport) -> list[Any]:
        """Return the widgets of *call*: a heading, and a panel if the tool exists."""
        tool = report.tools.get(call["name"])
        head = (
            f'<div role="heading" aria-level="4">Called: <code>{short(call["name"])}</code></div>'
        )
        if tool is None or number > _MOST:
            why = "there is no such tool"
            if tool is not None:
                why = "more calls have no panel"
            head += key_values(call["arguments"]) + notice(
                f"It cannot be run here: {why}.", "neutral"
            )
            return [self._parts.html(Html(head))]
        note, panel = _opened(tool, call["arguments"])
        self._panels.append(panel)
        return [self._parts.html(Html(head + note)), panel]

    @property
    def is_busy(self) -> bool:
        """Whether a call is running in one of the panels."""
        return any(panel.is_busy for panel in self._panels)

    def close(self) -> None:
        """Close all widgets, and cancel the runs."""
        for panel in self._panels:
            panel.close()
        self._parts.close()


def _opened(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> tuple[Html, ToolPanel]:
    """Return the panel of *tool*, filled in, and a notice about secrets that are missing."""
    lost = [name for name, value in arguments.items() if is_lost(value)]
    note = Html("")
    if lost:
        text = f"Not kept, because it is secret: {', '.join(lost)}. Fill it in to run the call."
        note = notice(text, "neutral")
    panel = ToolPanel(tool, {name: v for name, v in arguments.items() if name not in lost})
    panel.form.reveal_errors()
    return note, panel


def _head_html(trial: Trial, report: EvalReport) -> Html:
    html = (
        f'<div role="heading" aria-level="3">{badge(trial.model, "info")}'
        f"<strong>{short(trial.title)}</strong> {escape(f'answer {trial.repeat}')}</div>"
    )
    html += other_html(MessageEvent([TextContent(text=trial.prompt)]))
    answer = answer_text(trial)
    if answer:
        html += other_html(MessageEvent([TextContent(text=answer)], source="agent"))
    for r in trial.results:
        html += notice(f"Run {r['run']}, {r['name']}, {r['state']}: {r['text']}", "neutral")
    return Html(html + comparison_html(trial, report))


class RowsPanel(LiveView):
    """The base class of reports in which a click on a row opens its details below the report.

    Only one row is open at a time. A subclass shows the details of a row in its method `show_row`.
    """

    def __init__(self, report: Any, overview: Html) -> None:
        """Show *overview*, the rows of *report*. No row is open."""
        self.report = report
        """The report."""
        self._lock = RLock()
        self._parts = parts = Parts()
        self._opened: Sequence[Any] = ()
        self._overview = parts.html(overview)
        on_pick(self._overview, self._pick)
        self._place = parts.column(kind="toolbench-opened")
        children = [parts.html(PANEL), self._overview, self._place]
        super().__init__(parts, self._lock, children, "toolbench-panel")

    def show_row(self, place: int) -> None:
        """Open the row at *place* of the report, and close the previous one."""
        raise NotImplementedError

    def _open(self, views: Sequence[Any], *widgets: Any) -> None:
        """Show *widgets* below the report, and close the views that were open there.

        *views* are those of the new widgets that must be closed later.
        """
        with self._lock:
            old, self._opened = self._opened, views
            self._place.children = widgets
        for view in old:
            view.close()

    def _pick(self, key: str) -> None:
        if key.isdecimal() and int(key) < len(self.report):
            self.show_row(int(key))

    def _views(self) -> Sequence[Any]:
        return self._opened

    def _static(self) -> dict[str, Any]:
        static: dict[str, Any] = self.report._repr_mimebundle_()
        return static


class ReportPanel(RowsPanel):
    """The report of an evaluation. A click on a row opens its answer below the report."""

    report: EvalReport

    def __init__(self, report: EvalReport) -> None:
        """Show *report*, with the first failure open."""
        key = live_results.keep_report(report, shown_answers)
        super().__init__(report, overview_html(report, key))
        if report.failures:
            self._show(report.failures[0])

    @property
    def opened(self) -> Trial | None:
        """The open answer; None if no answer is open."""
        for opened in self._opened:
            return cast("Trial", opened.trial)
        return None

    def show_row(self, place: int) -> None:
        """Open the answer at *place* of the report, whether it is right or wrong."""
        self._show(self.report[place])

    def _pick(self, key: str) -> None:
        # The rows of the page are counted from 1
        if key.isdecimal() and 1 <= int(key) <= len(self.report):
            self.show_row(int(key) - 1)

    def _show(self, trial: Trial) -> None:
        opened = OpenedTrial(trial, self.report)
        self._open([opened], opened.widget)


class SweepPanel(RowsPanel):
    """The report of a sweep.

    A click on a row opens the tool's panel below, filled with the call.
    """

    report: SweepReport

    def __init__(self, report: SweepReport) -> None:
        """Show *report*, with no call open."""
        key = live_results.keep_report(report, shown_rows)
        super().__init__(report, sweep_html(report, key=key))
        self._head = self._parts.html()

    def show_row(self, place: int) -> None:
        """Open the panel of the call at *place* of the report."""
        note, panel = _opened(self.report.definition, self.report[place].arguments)
        head = f'<div role="heading" aria-level="4"><strong>Call {place:,}</strong></div>{note}'
        put(self._head, Html(head))
        self._open([panel], self._head, panel)


class CheckPanel(RowsPanel):
    """The report of checks. A click on a row opens its check, whose new result can be accepted."""

    report: CheckReport
    """The report. It is replaced after a result has been accepted."""

    def __init__(self, report: CheckReport) -> None:
        """Show *report*, with the first failure open."""
        super().__init__(report, _checks_overview(report))
        self._head, self._row = self._parts.html(), 0
        tip = "Write this result into the file: the check expects it from now on"
        self._accept = self._parts.button("Accept", self.accept, look="primary", tip=tip)
        if report.failures:
            self.show_row(list(report).index(report.failures[0]))

    def show_row(self, place: int) -> None:
        """Open the check at *place* of the report, with the panel of its call."""
        self._row, result = place, self.report[place]
        panels = list[ToolPanel]()
        if result.run is not None:
            panels.append(_opened(result.run.tool, result.check.arguments)[1])
        self._show_head()
        self._open(panels, self._head, self._accept, *panels)

    def _show_head(self, note: str = "") -> None:
        result = self.report[self._row]
        put(self._head, Html(_check_html(result) + note))
        show_if(self._accept, is_shown=result.has_new_result and self.report.file is not None)

    def accept(self) -> None:
        """Write the open check's new result to the file, so that the check expects it from now on.

        If this fails, show why.
        """
        with self._lock:
            # The second click of a double click
            if not self.report[self._row].has_new_result:
                return
            try:
                self.report = self.report.accepting(self._row)
            except CaseError as error:
                self._show_head(notice(str(error), "danger"))
                return
            self._show_head()
            put(self._overview, _checks_overview(self.report))
        self.renew()


def _checks_overview(report: CheckReport) -> Html:
    return checks_html(report, key=live_results.keep_report(report, shown_results))


def _check_html(result: CheckResult) -> Html:
    """Return the name and state of a check, the differences of its result, and the result."""
    tone: Tone = "warning"
    if result.passed:
        tone = "success"
    elif result.observation is not None:
        tone = "danger"
    parts = [
        f'<div role="heading" aria-level="3" style="margin:0 0 6px">{badge(result.state, tone)}'
        f"<strong>{short(result.check.name)}</strong> <code>{short(result.check.tool)}</code></div>"
    ]
    found, others = result.differences()
    for problem in others:
        parts.append(notice(str(problem), "warning"))
    if found:
        parts.append(section("What was expected → what was returned", differences_html(found)))
    if result.observation is not None:
        parts.append(fold("What was returned", result_html(result.observation)))
    return Html("".join(parts))
