"""The live report of an evaluation. A failure opens, with its transcript and a panel for each call."""

from threading import RLock
from typing import Any

from toolbench.agent.events import MessageEvent
from toolbench.agent.transcript import other_html
from toolbench.core.content import TextContent
from toolbench.display.escape import Html, escape
from toolbench.display.page import badge, key_values, notice, short
from toolbench.evals.report import EvalReport
from toolbench.evals.report_html import (
    answer_text,
    expected_html,
    lint_html,
    overview_html,
)
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.runs.record import is_lost
from toolbench.widgets.kit.parts import PANEL, Panes, Parts
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel

# Calls of one answer that have a panel
_MOST = 10


class OpenedTrial:
    """The transcript of one trial: a model's answer to a case. Each call has a panel to run it again."""

    def __init__(self, trial: Trial, report: EvalReport) -> None:
        """Open *trial* of *report*; a call runs only after a user starts it."""
        self._parts = parts = Parts()
        self._panels: list[ToolPanel] = []
        children = [parts.html(_head_html(trial, report))]
        for number, call in enumerate(trial.calls, 1):
            children += self._call(number, call, report)
        children.append(parts.html(lint_html(trial, report)))
        self.widget = parts.column(*children)

    def _call(self, number: int, call: Json, report: EvalReport) -> list[Any]:
        """Return the widgets of *call*: a head, and a panel if its tool exists."""
        tool, arguments = report.tools.get(call["name"]), call["arguments"]
        head = (
            f'<div role="heading" aria-level="4">Called: <code>{short(call["name"])}</code></div>'
        )
        for text in call.get("repairs", ()):
            head += notice(f"Repaired: {text}", "warning")
        if tool is None or number > _MOST:
            why = "there is no such tool"
            if tool is not None:
                why = "more calls have no panel"
            head += key_values(arguments) + notice(f"It cannot be run here: {why}.", "neutral")
            return [self._parts.html(Html(head))]
        lost = [name for name, value in arguments.items() if is_lost(value)]
        if lost:
            text = f"Not kept, because it is secret: {', '.join(lost)}. Fill it in to run the call."
            head += notice(text, "neutral")
        known = {name: value for name, value in arguments.items() if name not in lost}
        panel = ToolPanel(tool, known)
        panel.form.reveal_errors()
        self._panels.append(panel)
        return [self._parts.html(Html(head)), panel]

    @property
    def is_busy(self) -> bool:
        """Whether a call runs in one of the panels."""
        return any(panel.is_busy for panel in self._panels)

    def close(self) -> None:
        """Close all widgets; runs are cancelled."""
        for panel in self._panels:
            panel.close()
        self._parts.close()


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
    return Html(html + expected_html(trial, report))


class ReportPanel(LiveView):
    """The summary of a report, and a list to search and open failures.

    Any thread may call the callbacks of the panel.
    """

    def __init__(self, report: EvalReport) -> None:
        """Show *report*; the first failure is open."""
        self.report = report
        """The report."""
        self._lock = RLock()
        self._parts = parts = Parts()
        self._opened: OpenedTrial | None = None
        self._list = PickList(parts, "Failures", self._open, self._lock, rows=10)
        self._panes = Panes(parts)
        children = [parts.html(PANEL), parts.html(overview_html(report))]
        if report.failures:
            children.append(self._panes.widget)
        super().__init__(parts, self._lock, children, "toolbench-workbench")
        if report.failures:
            self._panes.fill(lists=[self._list.widget])
            self._list.offer(_items(report), "")
            self._list.pick_first()

    @property
    def opened(self) -> Trial | None:
        """The open failure; None if no failure is open."""
        key = self._list.picked
        if key is None:
            return None
        return self.report.failures[int(key)]

    def show_failure(self, place: int) -> None:
        """Open the failure at *place* of `report.failures`."""
        self._list.pick(str(place))

    def _open(self, key: str) -> None:
        old, trial = self._opened, self.report.failures[int(key)]
        self._opened = OpenedTrial(trial, self.report)
        self._panes.fill(main=[self._opened.widget])
        if old is not None:
            old.close()

    def _views(self) -> list[OpenedTrial]:
        if self._opened is None:
            return []
        return [self._opened]

    def _static(self) -> dict[str, Any]:
        return self.report._repr_mimebundle_()


def _items(report: EvalReport) -> list[Item]:
    """Return the failures as items. If there are several models, each model is a group."""
    items = []
    for model in report.models:
        group = ""
        if len(report.models) > 1:
            group = model
        for number, trial in enumerate(report.failures):
            if trial.model == model:
                also = f"{trial.prompt} {' '.join(trial.called)} {model}"
                item = Item(
                    str(number), trial.title, trial.problem, also=also, mark="failed", group=group
                )
                items.append(item)
    return items
