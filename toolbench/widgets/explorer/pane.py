"""What the tabs of a server have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from ipywidgets import Button

from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.parts import Parts

Lock = AbstractContextManager[Any]
"""A lock its holder can take again."""


class Pane(ABC):
    """What one tab shows of a server; made when it is first looked at."""

    title: ClassVar[str]
    hears: ClassVar[frozenset[str]]
    """The names of the news that concern it; see `toolbench.mcp.changes`."""
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

    def close(self) -> None:
        """Close every widget of the tab."""
        self._parts.close()
