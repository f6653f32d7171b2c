"""The live reports of evaluations and sweeps: answers and calls open into the panels of their tools."""

from collections.abc import Mapping
from threading import RLock
from typing import Any

from toolbench.agent.events import MessageEvent
from toolbench.agent.transcript import other_html
from toolbench.core.content import TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.live_results import live_results
from toolbench.display.page import badge, key_values, notice, short
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
from toolbench.widgets.kit.parts import PANEL, Parts, on_pick
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel

# Calls of one answer that have a panel
_MOST = 10


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
