"""The tab with the timeline of a server: its messages, its lines, and the runs of its tools."""

from collections.abc import Iterator
from typing import ClassVar

from toolbench.display.timeline import Span, Timeline
from toolbench.mcp.monitoring.spans import spans_of_session
from toolbench.mcp.server_session import MCPServerSession
from toolbench.runs.history import history
from toolbench.runs.record import BEGAN
from toolbench.widgets.explorer.tabs import Lock, Pane
from toolbench.widgets.timeline import TimelineView


class TimelinePane(Pane):
    """When everything happened at a server; a click on a span opens the run or the message."""

    title = "Timeline"
    # It looks itself, while it is in sight
    hears: ClassVar[frozenset[str]] = frozenset()
    widget: TimelineView

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show what happened so far at *session*, and what happens."""
        super().__init__(session, lock)
        self.widget = TimelineView(Timeline(source=self._spans), lock)
        self._parts.adopt(self.widget)

    def _spans(self) -> Iterator[Span]:
        yield from spans_of_session(self.session)
        for span in history().spans():
            # Those of loaded files are older
            if span.server == self.session.name and span.start >= BEGAN:
                yield span

    def refresh(self) -> None:
        """Show what has happened since."""
        self.widget.refresh()

    @property
    def is_busy(self) -> bool:
        """Whether a tool runs in the tab."""
        return self.widget.is_busy
