"""The tab with the timeline of a server: its messages, its log lines, and the runs of its tools."""

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
    """The times of all events at a server. A click on a span opens its run or message."""

    title = "Timeline"
    # The timeline updates itself while it is visible
    hears: ClassVar[frozenset[str]] = frozenset()
    widget: TimelineView

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show what has happened at *session* so far, and everything that happens from now on."""
        super().__init__(session, lock)
        self.widget = TimelineView(Timeline(source=self._spans), lock)
        self._parts.adopt(self.widget)

    def _spans(self) -> Iterator[Span]:
        yield from spans_of_session(self.session)
        for span in history().spans():
            # Runs of loaded files are older
            if span.server == self.session.name and span.start >= BEGAN:
                yield span

    def refresh(self) -> None:
        """Show what has happened since the last update."""
        self.widget.refresh()

    @property
    def is_busy(self) -> bool:
        """Whether a tool is running in the tab."""
        return self.widget.is_busy
