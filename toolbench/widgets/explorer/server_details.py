"""The tabs about a server itself, in the explorer and beside a tool of the server."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.mcp.session import MCPServerSession
from toolbench.mcp.tool import MCPToolExecutor
from toolbench.widgets.explorer.panes.changes_pane import ChangesPane
from toolbench.widgets.explorer.panes.logs import LogPane
from toolbench.widgets.explorer.panes.pane import Lock
from toolbench.widgets.explorer.panes.recording_pane import RecordingPane
from toolbench.widgets.explorer.server_card import ServerPane
from toolbench.widgets.explorer.tab_set import TabSet
from toolbench.widgets.explorer.traffic_view.open_message import UseTool
from toolbench.widgets.explorer.traffic_view.traffic import TrafficPane
from toolbench.widgets.explorer.updates import PendingUpdates


class ServerDetails(TabSet):
    """The tabs Server, Log, Traffic, Recording and Changes."""

    def __init__(self, session: MCPServerSession, lock: Lock, use_tool: UseTool) -> None:
        """Show the state of *session*; the other tabs are made when they are opened.

        Args:
            session: The server.
            lock: A lock that is held while something is shown.
            use_tool: A function that opens a tool's panel, with arguments in its form.
        """
        traffic = partial(TrafficPane, use_tool=use_tool)
        super().__init__(
            session,
            lock,
            {
                ServerPane: ServerPane,
                LogPane: LogPane,
                TrafficPane: traffic,
                RecordingPane: RecordingPane,
                ChangesPane: ChangesPane,
            },
        )


class ServerView:
    """The tabs about one server. The visible tab is updated when the server changes."""

    def __init__(
        self,
        session: MCPServerSession,
        lock: AbstractContextManager[Any],
        use_tool: UseTool,
    ) -> None:
        """Show *session*; callbacks run while *lock* is held.

        Args:
            session: The server.
            lock: A reentrant lock.
            use_tool: A function that opens a tool's panel, with arguments in its form.
        """
        self._details = details = ServerDetails(session, lock, use_tool)
        self._updates = PendingUpdates(session, partial(_hear, details, lock))
        self.widget = details.widget

    def close(self) -> None:
        """Stop all updates and close the tabs."""
        self._updates.close()
        self._details.close()


def _hear(details: ServerDetails, lock: AbstractContextManager[Any], names: frozenset[str]) -> None:
    with lock:
        details.hear(names)


def server_view_of(
    tool: ToolDefinition[Any, Any],
    lock: AbstractContextManager[Any],
    use_tool: UseTool,
) -> ServerView | None:
    """Return the view of the server that runs *tool*; None if *tool* is not from a server."""
    executor = tool.executor
    if isinstance(executor, MCPToolExecutor):
        return ServerView(executor.client, lock, use_tool)
    return None
