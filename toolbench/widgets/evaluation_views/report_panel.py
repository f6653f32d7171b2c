"""The live report of an evaluation. A person can open a failure, with its transcript and panels."""

from threading import RLock
from typing import Any

from toolbench.evals.report import EvalReport
from toolbench.evals.report_html import overview_html
from toolbench.evals.trial import Trial
from toolbench.widgets.evaluation_views.opened_trial import OpenedTrial
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.kit.three_panes import Panes
from toolbench.widgets.live_view import LiveView


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
        head = parts.html(overview_html(report))
        children = [parts.html(PANEL), head]
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
        return None if key is None else self.report.failures[int(key)]

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
    has_groups = len(report.models) > 1
    items = [
        Item(
            str(n),
            trial.title,
            trial.problem,
            also=f"{trial.prompt} {' '.join(trial.called)} {trial.model}",
            mark="failed",
            group=trial.model if has_groups else "",
        )
        for n, trial in enumerate(report.failures)
    ]
    models = list(report.models)
    if not has_groups:
        return items
    return sorted(items, key=lambda item: models.index(item.group))
