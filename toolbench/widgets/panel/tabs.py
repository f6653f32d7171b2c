"""The tabs of a panel: the form, its JSON, and views that are made when their tab is opened."""

from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any

import ipywidgets as w

from toolbench.runs.history import history
from toolbench.widgets.kit.parts import Parts, show_if
from toolbench.widgets.kit.ticker import PacedUpdate
from toolbench.widgets.panel.views import VIEWS, Panel, View

TABS = ("Form", "JSON", *VIEWS)
# Tabs that show the call and its result
_CALL = ("Form", "JSON")


class PanelTabs:
    """The tabs in the panel of one tool."""

    def __init__(self, panel: Panel, parts: Parts, lock: AbstractContextManager[Any]) -> None:
        """Make the tabs of *panel*. At first only the tab of the form has contents.

        The contents of the other tabs are made later; *lock* is held while they are made.
        """
        self._panel, self._lock = panel, lock
        self._views: dict[str, View] = {}
        # Ends the updates of the open tab History
        self._following = ExitStack()
        boxes = [panel.form.widget, *(parts.column() for _ in TABS[1:])]
        state = {"children": boxes, "titles": self._titles()}
        self.widget = parts.make(w.Tab, "toolbench-tabs", **state)
        self.widget.observe(lambda _: self._open(), "selected_index")

    def renew(self) -> None:
        """Show the panel's new form; the other tabs are made again when they are opened."""
        self.close()
        _, *others = self.widget.children
        for tab in others:
            tab.children = ()
        self.widget.children = [self._panel.form.widget, *others]
        self.entitle()
        self.to_form()

    def to_form(self) -> None:
        """Open the tab with the form."""
        self.widget.selected_index = 0

    @property
    def is_at_call(self) -> bool:
        """Whether the open tab shows the call, as a form or as JSON."""
        return TABS[self.widget.selected_index or 0] in _CALL

    def _titles(self) -> tuple[str, ...]:
        """Return the titles, with the number of runs in the title of History."""
        runs = len(history().of(self._panel.tool))
        return tuple(
            f"{title} ({runs:,})" if title == "History" and runs else title for title in TABS
        )

    def entitle(self) -> None:
        """Count the runs in the title of History again."""
        titles = self._titles()
        if self.widget.titles != titles:
            self.widget.titles = titles

    def when_at_call(self, part: w.Widget) -> None:
        """Show *part*, below the tabs, only while the open tab shows the call."""
        self.widget.observe(lambda _: show_if(part, is_shown=self.is_at_call), "selected_index")

    def _follow(self, view: View) -> None:
        """Update *view*, which is the open tab History, after each run of the tool."""
        updates = PacedUpdate(partial(self._show_runs, view))
        self._following.callback(updates.close)
        stop = history().observe(self._panel.tool, updates.change)
        self._following.callback(stop)

    def _show_runs(self, view: View) -> None:
        with self._lock:
            if self._open_view is view:
                view.follow()
                self.entitle()

    @property
    def _open_view(self) -> View | None:
        """The view in the open tab; None if it is the form, or if the view is not made yet."""
        return self._views.get(TABS[self.widget.selected_index or 0])

    def close(self) -> None:
        """Close the views in the tabs that were opened, such as History."""
        self._following.close()
        for view in self._views.values():
            view.close()
        self._views.clear()

    def _open(self) -> None:
        """Make the content of the open tab, or update it."""
        index = self.widget.selected_index or 0
        name, box = TABS[index], self.widget.children[index]
        with self._lock:
            self._following.close()
            if name == "JSON" and not box.children:
                box.children = [self._panel.form.json_widget]
            elif name in VIEWS and name not in self._views:
                view = self._views[name] = VIEWS[name](self._panel)
                box.children = [view.widget]
            elif name in self._views:
                self._views[name].refresh()
            if name == "History":
                self._follow(self._views[name])
                # Runs of other panels are in the list as well
                self.entitle()
