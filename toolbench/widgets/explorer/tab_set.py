"""Tabs with panes of a server; each pane is made when it is first opened."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as w

from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.widgets.kit.parts import Parts

MakePane = Callable[[MCPServerSession, Lock], Pane]


class TabSet:
    """Tabs with panes. A change updates the visible pane at once, and another pane when it is opened."""

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        kinds: Mapping[type[Pane], MakePane],
        *,
        when_turned: Callable[[], None] = lambda: None,
    ) -> None:
        """Show the first pane of *session*; make the other panes when they are opened.

        Args:
            session: The server.
            lock: A lock that is held while something is shown.
            kinds: The classes of panes, each with a function that makes a pane.
            when_turned: A function that is called when another tab is opened.
        """
        self.session = session
        self._lock = lock
        self._kinds = tuple(kinds)
        self._make = kinds
        self._when_turned = when_turned
        self._parts = parts = Parts()
        self._panes: dict[int, Pane] = {}
        self._stale: set[int] = set()
        self._changed: set[str] = set()
        self._closed = False
        boxes = [parts.column() for _ in self._kinds]
        self.widget: Any = parts.make(w.Tab, "toolbench-tabs", children=boxes)
        self._open()
        self.widget.observe(lambda _: self._turned(), "selected_index")

    def hear(self, names: frozenset[str], changed: frozenset[str] = frozenset()) -> None:
        """Update the panes that show the changes *names*.

        Mark each tab whose title is in *changed*, except the open tab.
        """
        if self._closed:
            return
        open_tab = self._kinds[self._index].title.lower()
        self._changed |= {name for name in changed if name != open_tab}
        for index, kind in enumerate(self._kinds):
            if names & kind.hears:
                self._stale.add(index)
        self._refresh()

    def add(self, kind: type[Pane], make: MakePane) -> None:
        """Add a tab for a pane of the class *kind* at the end, unless there is such a tab already."""
        if kind not in self._kinds and not self._closed:
            self._kinds = (*self._kinds, kind)
            self._make = {**self._make, kind: make}
            self.widget.children = (*self.widget.children, self._parts.column())
            self._entitle()

    @property
    def pane(self) -> Pane:
        """The visible pane."""
        return self._panes[self._index]

    @property
    def is_busy(self) -> bool:
        """Whether something runs in one of the panes."""
        return any(pane.is_busy for pane in self._panes.values())

    def show(self, kind: type[Pane]) -> Pane:
        """Open the tab with the pane of the class *kind*, and return the pane."""
        self.widget.selected_index = self._kinds.index(kind)
        return self.pane

    @property
    def _index(self) -> int:
        return self.widget.selected_index or 0

    def _turned(self) -> None:
        with self._lock:
            if not self._closed:
                self._open()
                self._when_turned()

    def _open(self) -> None:
        index = self._index
        kind = self._kinds[index]
        self._changed.discard(kind.title.lower())
        if index not in self._panes:
            pane = self._panes[index] = self._make[kind](self.session, self._lock)
            self.widget.children[index].children = [pane.widget]
            self._stale.discard(index)
        self._refresh()

    def _refresh(self) -> None:
        if self._index in self._stale:
            self._stale.discard(self._index)
            self.pane.refresh()
        self._entitle()

    def _entitle(self) -> None:
        titles = tuple(
            kind.title
            + kind.count(self.session)
            + (" (changed)" if kind.title.lower() in self._changed else "")
            for kind in self._kinds
        )
        if self.widget.titles != titles:
            self.widget.titles = titles

    def close(self) -> None:
        """Close every pane that was made."""
        self._closed = True
        for pane in self._panes.values():
            pane.close()
        self._panes.clear()
        self._parts.close()
