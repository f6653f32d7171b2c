"""The history as a widget: the list of all runs, and below it the panel of a run's tool."""

from functools import partial
from threading import RLock
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.runs.history import ListedRuns, history
from toolbench.runs.record import RunRecord
from toolbench.widgets.kit.parts import PANEL, Parts
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.widgets.panel.run_list import RunList


class HistoryPanel(LiveView):
    """The runs of all tools. *Load* and *Run again* open the run's tool below the list."""

    def __init__(self, listed: ListedRuns) -> None:
        """Show the runs in *listed*, with the same filter."""
        self._listed = listed
        self._panel: ToolPanel | None = None
        lock, parts = RLock(), Parts()
        self.runs = RunList(
            parts,
            lock,
            lambda: history()[:],
            load=self._load,
            run_again=self._run_again,
            words=listed.words,
            has_tools=True,
        )
        self._place = parts.column()
        children = [parts.html(PANEL), self.runs.widget, self._place]
        super().__init__(parts, lock, children, "toolbench-panel")
        # At the next tick: a run may end in any thread, while it holds locks
        self._stop_following = history().observe(None, partial(ticker.watch, self._show_runs))
        self.runs.refresh()

    def _show_runs(self) -> bool:
        """Update the list. Return False, so that the ticker stops calling this method."""
        if self.comm is not None:
            self.runs.follow()
        return False

    # --- the panel of a run's tool ------------------------------------------------------

    def _load(self, record: RunRecord) -> None:
        panel = self._panel_of(record)
        if panel is not None:
            panel.put_back_run(record)

    def _run_again(self, record: RunRecord) -> None:
        panel = self._panel_of(record)
        if panel is not None:
            panel.run_again(record)

    def _panel_of(self, record: RunRecord) -> ToolPanel | None:
        """Open a panel of the tool of *record*, or use the open panel if it has the same tool.

        Return the panel; None if the tool is not found, or if the open panel is busy.
        """
        try:
            tool = record.find_tool()
        except ToolbenchError as error:
            self.runs.say(str(error))
            return None
        panel = self._panel
        if panel is not None and panel.is_busy and panel.tool is not tool:
            self.runs.say(f"{panel.tool.name} is running: wait, or cancel it.")
            return None
        if panel is None or panel.tool is not tool:
            self._panel = ToolPanel(tool, when_over=lambda _: self.keep())
            self._place.children = [self._panel]
            if panel is not None:
                panel.close()
        return self._panel

    # --- in a saved notebook ------------------------------------------------------------

    def _views(self) -> list[ToolPanel]:
        if self._panel is None:
            return []
        return [self._panel]

    def _static(self) -> dict[str, Any]:
        return dict(self._listed._repr_mimebundle_())

    @property
    def _records(self) -> list[RunRecord]:
        return [view.record for view in self._views() if view.record is not None]

    def _release(self) -> None:
        self._stop_following()

    def __repr__(self) -> str:
        # ipywidgets would write out every child
        return f"<HistoryPanel of {len(history())} runs>"
