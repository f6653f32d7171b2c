"""The tabs of one server; each is made when it is first looked at."""

import ipywidgets as w

from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.log import LogPane
from toolbench.widgets.explorer.pane import Lock, Pane
from toolbench.widgets.explorer.prompts import PromptsPane
from toolbench.widgets.explorer.resources import ResourcesPane
from toolbench.widgets.explorer.tools import ToolsPane
from toolbench.widgets.explorer.traffic import TrafficPane
from toolbench.widgets.parts import Parts

PANES: tuple[type[Pane], ...] = (
    ToolsPane,
    ResourcesPane,
    PromptsPane,
    LogPane,
    TrafficPane,
)
_MARKED = ("tools", "resources", "prompts")


class ServerPage:
    """What one server offers and says."""

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the tools of *session*; the rest when it is asked for."""
        self.session = session
        self._lock = lock
        self._parts = parts = Parts()
        self._panes: dict[int, Pane] = {}
        self._stale: set[int] = set()
        self._changed: set[str] = set()
        self._last_change = session.last_change
        self._closed = False
        boxes = [parts.column() for _ in PANES]
        self._tabs = parts.make(w.Tab, "toolbench-tabs", children=boxes)
        self.widget = self._tabs
        self._open()
        self._tabs.observe(lambda _: self._picked(), "selected_index")

    def hear(self, names: frozenset[str]) -> None:
        """Show what is new in the tab in sight; mark the others."""
        if self._closed:
            return
        self._note(names)
        for index, kind in enumerate(PANES):
            if names & kind.hears:
                self._stale.add(index)
        self._refresh()

    @property
    def pane(self) -> Pane:
        """The tab that is in sight."""
        return self._panes[self._index]

    @property
    def _index(self) -> int:
        return self._tabs.selected_index or 0

    def _picked(self) -> None:
        with self._lock:
            if not self._closed:
                self._open()

    def _open(self) -> None:
        index = self._index
        self._changed.discard(PANES[index].title.lower())
        if index not in self._panes:
            pane = self._panes[index] = PANES[index](self.session, self._lock)
            self._tabs.children[index].children = [pane.widget]
            self._stale.discard(index)
        self._refresh()

    def _refresh(self) -> None:
        if self._index in self._stale:
            self._stale.discard(self._index)
            self.pane.refresh()
        self._entitle()

    def _note(self, names: frozenset[str]) -> None:
        """Mark the lists that changed and are not in sight."""
        change, self._last_change = self._last_change, self.session.last_change
        real = names if change is not self._last_change else names - {"tools"}
        seen = PANES[self._index].title.lower()
        self._changed |= {n for n in real & set(_MARKED) if n != seen}

    def _entitle(self) -> None:
        count = len(self.session.tools)
        titles = tuple(
            kind.title
            + (f" ({count:,})" if kind is ToolsPane else "")
            + (" (changed)" if kind.title.lower() in self._changed else "")
            for kind in PANES
        )
        if self._tabs.titles != titles:
            self._tabs.titles = titles

    def close(self) -> None:
        """Close every tab that was opened."""
        self._closed = True
        for pane in self._panes.values():
            pane.close()
        self._panes.clear()
        self._parts.close()
