"""The base classes of the panes: a pane is the content of one tab of a server."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from ipywidgets import Button

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.lists.listing import ToolsDiff
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import listed

MOST = 6
"""The maximum number of names in one notice."""
Lock = AbstractContextManager[Any]
"""A reentrant lock."""


class Pane(ABC):
    """The base class of a tab's content. A pane is made when its tab is first opened."""

    title: ClassVar[str]
    hears: ClassVar[frozenset[str]]
    """The names of the changes after which the pane is updated.

    See `toolbench.mcp.monitoring.changes`.
    """
    widget: Any

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show *session* without waiting for the server.

        Any thread may call the pane's callbacks; each callback holds *lock*, the lock
        of the explorer.
        """
        self.session = session
        self._lock = lock
        self._parts = Parts()

    def on(self, widget: Any, react: Callable[[], None], trait: str = "value") -> None:
        """Call *react* after a click if *widget* is a button, else after a change of *trait*."""

        def happened(_: Any) -> None:
            with self._lock:
                react()

        if isinstance(widget, Button):
            widget.on_click(happened)
        else:
            widget.observe(happened, trait)

    @abstractmethod
    def refresh(self) -> None:
        """Update the content; called only while the tab is open."""

    @property
    def is_busy(self) -> bool:
        """Whether a tool runs in the tab."""
        return False

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return the number of items, for the tab's title. In this base class return an empty text."""
        return ""

    def close(self) -> None:
        """Close every widget of the tab."""
        self._parts.close()


class ListPane(Pane):
    """The base class of panes with a list. The explorer shows the picked item beside the list."""

    detail: Any
    """The widget that shows the picked item."""


def changes_html(change: ToolsDiff | None) -> Html:
    """Return a notice with the first names in *change*; empty if nothing changed."""
    if not change:
        return Html("")
    parts = {
        "added": change.added,
        "removed": change.removed,
        "changed": change.changed,
    }
    texts = [f"{verb} {listed(n, MOST)}" for verb, n in parts.items() if n]
    return notice(f"The list changed: {'; '.join(texts)}.", "info")


class ListNotes:
    """Two notes: one above the list, and one in place of the picked item while no item is picked."""

    def __init__(self, parts: Parts, session: MCPServerSession, plural: str) -> None:
        """Say that the list comes. *plural* is the word for its items, such as "resources"."""
        self._session, self._plural = session, plural
        self._items: Mapping[str, Any] | None = None
        self._has_trouble = False
        self.above = parts.html(notice("Listing…", "neutral"))
        """The note above the list."""
        self.empty = parts.html()
        """The note in place of the picked item."""

    def can_list(self) -> bool:
        """Return whether the server can be asked for the list. If it cannot, say so."""
        if self._session.status in ("connected", "incomplete", "lost"):
            return True
        self._has_trouble = True
        if self._session.status == "connecting":
            put(self.above, notice("Connecting…", "neutral"))
            put(self.empty, Html(""))
        else:
            text = f"Its {self._plural} can be read when the server is connected. The tab Server connects it."
            put(self.above, notice("Not connected.", "neutral"))
            put(self.empty, notice(text, "neutral"))
        return False

    def say_failure(self, text: str) -> None:
        """Say *text*, the reason why the list did not come."""
        self._has_trouble = True
        put(self.above, notice(text, "danger"))
        put(self.empty, Html(""))

    def say_changes(self, items: Mapping[str, Any]) -> None:
        """Say what has changed in the list since the last call; *items* are its items by their keys."""
        before, self._items = self._items, items
        change = None
        if before is not None:
            change = ToolsDiff.between(before, items)
        if change or before is None or self._has_trouble:
            put(self.above, changes_html(change))
        self._has_trouble = False
        put(self.empty, notice(f"This server offers no {self._plural}.", "neutral"))
