"""What the tabs of a server have in common."""

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

Lock = AbstractContextManager[Any]
"""A lock its holder can take again."""


class Pane(ABC):
    """What one tab shows of a server; made when it is first looked at."""

    title: ClassVar[str]
    hears: ClassVar[frozenset[str]]
    """The names of the news that concern it; see `toolbench.mcp.monitoring.change_listeners`."""
    widget: Any

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show what there is to be shown of *session*, without waiting for it.

        Callbacks may come on any thread: one at a time holds the explorer's *lock*.
        """
        self.session = session
        self._lock = lock
        self._parts = Parts()

    def on(self, widget: Any, react: Callable[[], None], trait: str = "value") -> None:
        """Call *react* when a person clicks the button *widget*, or changes its *trait*."""

        def happened(_: Any) -> None:
            with self._lock:
                react()

        if isinstance(widget, Button):
            widget.on_click(happened)
        else:
            widget.observe(happened, trait)

    @abstractmethod
    def refresh(self) -> None:
        """Show what is new; called when the tab is in sight."""

    @staticmethod
    def count(session: MCPServerSession) -> str:
        """Return how many things the tab shows, as its title says it; empty if it does not."""
        return ""

    def close(self) -> None:
        """Close every widget of the tab."""
        self._parts.close()


class ListPane(Pane):
    """A list in the tab, and beside it what is picked of it."""

    detail: Any
    """What is picked."""


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> ToolsDiff:
    """Return how *after* differs from *before*, by the keys of both."""
    return ToolsDiff(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=tuple(k for k in after if k in before and before[k] != after[k]),
    )


def changes_html(change: ToolsDiff | None) -> Html:
    """Return *change* as a notice; nothing where there is none."""
    return notice(f"The list changed: {change}.", "info") if change else Html("")
