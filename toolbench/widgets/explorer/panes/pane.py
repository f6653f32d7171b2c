"""The base classes of the panes: a pane is the content of one tab of a server."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from ipywidgets import Button

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.features.listing import ToolsDiff
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.kit.parts import Parts
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

    See `toolbench.mcp.monitoring.change_listeners`.
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


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> ToolsDiff:
    """Return the keys that were added, removed or changed from *before* to *after*."""
    return ToolsDiff(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=tuple(k for k in after if k in before and before[k] != after[k]),
    )


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
