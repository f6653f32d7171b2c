"""The live reports of evaluations, sweeps and checks: their calls open into the panels of their tools."""

from collections.abc import Mapping
from itertools import islice
from threading import RLock
from typing import Any

from toolbench.agent.events import MessageEvent
from toolbench.agent.transcript import other_html
from toolbench.checks.report import CheckReport, CheckResult, checks_html, shown_results
from toolbench.core.content import TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.display.differences import Difference, differences, differences_html
from toolbench.display.escape import Html, escape
from toolbench.display.live_results import live_results
from toolbench.display.observations import result_html
from toolbench.display.page import (
    Card,
    Tone,
    badge,
    cards_html,
    fold,
    key_values,
    notice,
    short,
)
from toolbench.errors import CaseError, Path
from toolbench.evals.match import ABSENT
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
from toolbench.wording import counted

# Calls of one answer that have a panel
_MOST = 10
# Differences of a result that are counted
_DIFFERENCES = 5_000


class OpenedTrial:
    """The transcript of one trial: a model's answer to a case. Each call has a panel to run it again."""

    def __init__(self, trial: Trial, report: EvalReport) -> None:
        """Open *trial* of *report*; a call runs only after a user starts it."""
        self.trial = trial
        self._parts = parts = Parts()
        self._panels: list[ToolPanel] = []
        children = [parts.html(_head_html(trial, report))]
        for number, call in enumerate(trial.calls, 1):
            children += self._call(number, call, report)
        children.append(parts.html(lint_html(trial, report)))
        self.widget = parts.column(*children)

    def _call(self, number: int, call: Json, report: EvalReport) -> list[Any]:
        """Return the widgets of *call*: a head, and a panel if its tool exists."""
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
        """Whether a call runs in one of the panels."""
        return any(panel.is_busy for panel in self._panels)

    def close(self) -> None:
        """Close all widgets; runs are cancelled."""
        for panel in self._panels:
            panel.close()
        self._parts.close()


def _opened(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> tuple[Html, ToolPanel]:
    """Return the panel of *tool*, filled in, and a notice about secrets that it lacks, or no HTML."""
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


class ReportPanel(LiveView):
    """The report of an evaluation. A click on the row of an answer opens it below."""

    def __init__(self, report: EvalReport) -> None:
        """Show *report*; the first failure is open."""
        self.report = report
        """The report."""
        self._lock = RLock()
        self._parts = parts = Parts()
        self._opened: OpenedTrial | None = None
        self._place = parts.column(kind="toolbench-opened")
        key = live_results.keep_report(report, shown_answers)
        overview = parts.html(overview_html(report, key))
        on_pick(overview, self._pick)
        children = [parts.html(PANEL), overview, self._place]
        super().__init__(parts, self._lock, children, "toolbench-panel")
        if report.failures:
            self._show(report.failures[0])

    @property
    def opened(self) -> Trial | None:
        """The open answer; None if no answer is open."""
        if self._opened is None:
            return None
        return self._opened.trial

    def show_answer(self, place: int) -> None:
        """Open the answer at *place* of the report, whether it is right or wrong."""
        self._show(self.report[place])

    def _pick(self, key: str) -> None:
        # The rows of the page are counted from 1
        if key.isdecimal() and 1 <= int(key) <= len(self.report):
            self.show_answer(int(key) - 1)

    def _show(self, trial: Trial) -> None:
        with self._lock:
            old = self._opened
            self._opened = OpenedTrial(trial, self.report)
            self._place.children = (self._opened.widget,)
        if old is not None:
            old.close()

    def _views(self) -> list[OpenedTrial]:
        if self._opened is None:
            return []
        return [self._opened]

    def _static(self) -> dict[str, Any]:
        return self.report._repr_mimebundle_()


class SweepPanel(LiveView):
    """The report of a sweep. A click on a row opens the tool's panel below, filled with that call."""

    def __init__(self, report: SweepReport) -> None:
        """Show *report*; no call is open."""
        self.report = report
        """The report."""
        self._lock = RLock()
        self._parts = parts = Parts()
        self._panels: list[ToolPanel] = []
        key = live_results.keep_report(report, shown_rows)
        rows = parts.html(sweep_html(report, key=key))
        on_pick(rows, self._pick)
        self._place = parts.column(kind="toolbench-opened")
        children = [parts.html(PANEL), rows, self._place]
        super().__init__(parts, self._lock, children, "toolbench-panel")

    def show_call(self, place: int) -> ToolPanel:
        """Show the panel of the call at *place* of the report in place of the one before."""
        row = self.report[place]
        note, panel = _opened(self.report.definition, row.arguments)
        head = Html(
            f'<div role="heading" aria-level="4"><strong>Call {place:,}</strong></div>{note}'
        )
        with self._lock:
            old, self._panels = self._panels, [panel]
            earlier = self._place.children[:1]
            self._place.children = (self._parts.html(head), panel)
            self._parts.drop(earlier)
        for other in old:
            other.close()
        return panel

    def _pick(self, key: str) -> None:
        if key.isdecimal() and int(key) < len(self.report):
            self.show_call(int(key))

    def _views(self) -> list[ToolPanel]:
        return self._panels

    def _static(self) -> dict[str, Any]:
        return self.report._repr_mimebundle_()


class CheckPanel(LiveView):
    """The report of checks. A click on a row opens the check below, where a new result can be accepted."""

    def __init__(self, report: CheckReport) -> None:
        """Show *report*; the first failure is open."""
        self.report = report
        """The report; another one after a result was accepted."""
        self._lock = RLock()
        self._parts = parts = Parts()
        self._opened = -1
        self._panels: list[ToolPanel] = []
        self._rows = parts.html(self._rows_html())
        on_pick(self._rows, self._pick)
        self._head, self._said = parts.html(), parts.html()
        tip = "Write this result into the file, as what the check expects from now on"
        self._accept = parts.button("Accept", self.accept, look="primary", tip=tip)
        self._place = parts.column(kind="toolbench-opened")
        children = [parts.html(PANEL), self._rows, self._place]
        super().__init__(parts, self._lock, children, "toolbench-panel")
        if report.failures:
            self.show_check(list(report).index(report.failures[0]))

    def _rows_html(self) -> Html:
        key = live_results.keep_report(self.report, shown_results)
        return checks_html(self.report, key=key)

    def show_check(self, place: int) -> None:
        """Open the check at *place* of the report, in place of the one before."""
        with self._lock:
            old, self._panels, self._opened = self._panels, [], place
            result = self.report[place]
            if result.run is not None:
                _, panel = _opened(result.run.tool, result.check.arguments)
                self._panels.append(panel)
            put(self._said, Html(""))
            self._show_head()
            self._place.children = (self._head, self._accept, self._said, *self._panels)
        for other in old:
            other.close()

    def _show_head(self) -> None:
        result = self.report[self._opened]
        put(self._head, _check_html(result))
        is_shown = result.has_new_result and self.report.file is not None
        show_if(self._accept, is_shown=is_shown)

    def accept(self) -> None:
        """Write the result of the open check into the file; say below it why if that fails."""
        with self._lock:
            if self._opened < 0 or not self.report[self._opened].has_new_result:
                return
            try:
                self.report = self.report.accepting(self._opened)
            except CaseError as error:
                put(self._said, notice(str(error), "danger"))
                return
            put(self._said, Html(""))
            self._show_head()
            put(self._rows, self._rows_html())
        self.renew()

    def _pick(self, key: str) -> None:
        if key.isdecimal() and int(key) < len(self.report):
            self.show_check(int(key))

    def _views(self) -> list[ToolPanel]:
        return self._panels

    def _static(self) -> dict[str, Any]:
        return self.report._repr_mimebundle_()


_STATES: dict[str, Tone] = {"passed": "success", "accepted": "success", "failed": "danger"}


def _check_html(result: CheckResult) -> Html:
    """Return the name and the state of a check, how its result differs, and the result."""
    tone = _STATES.get(result.state, "warning")
    parts = [
        f'<div role="heading" aria-level="3" style="margin:0 0 6px">{badge(result.state, tone)}'
        f"<strong>{short(result.check.name)}</strong> <code>{short(result.check.tool)}</code></div>"
    ]
    found = _differences(result)
    for problem in result.problems:
        if not problem.path or not any(_overlap(problem.path, each.path) for each in found):
            parts.append(notice(str(problem), "warning"))
    if found:
        remark = counted(len(found), "difference")
        card = Card("What was expected → what was returned", differences_html(found), remark)
        parts.append(cards_html([card]))
    if result.observation is not None:
        seen = fold("What was returned", result_html(result.observation))
        parts.append(f'<div style="margin:6px 0 0">{seen}</div>')
    return Html("".join(parts))


def _differences(result: CheckResult) -> list[Difference]:
    """Return the parts of a result that differ where the check has found a problem."""
    if result.observation is None or result.observation.is_error:
        return []
    expected, actual = result.check.compared(result.observation)
    if expected is ABSENT:
        return []
    found = list(islice(differences(expected, actual), _DIFFERENCES))
    if not result.check.expectation.rules:
        return found
    # A rule may allow others. Of an object, a problem without a path is not of a part of it
    is_whole = not (isinstance(expected, dict) and isinstance(actual, dict))
    paths = [problem.path for problem in result.problems if problem.path or is_whole]
    return [each for each in found if any(_overlap(path, each.path) for path in paths)]


def _overlap(one: Path, other: Path) -> bool:
    """Tell whether a path leads to the same place as another one, or to a part of that, or the reverse."""
    common = min(len(one), len(other))
    return one[:common] == other[:common]
