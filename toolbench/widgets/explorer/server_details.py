"""The tabs about a server itself: state, log, traffic, recording and changes."""

from functools import partial

from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.changes_pane import ChangesPane
from toolbench.widgets.explorer.panes.logs import LogPane
from toolbench.widgets.explorer.panes.pane import Lock
from toolbench.widgets.explorer.panes.recording_pane import RecordingPane
from toolbench.widgets.explorer.server_card import ServerPane
from toolbench.widgets.explorer.tab_set import TabSet
from toolbench.widgets.explorer.traffic_view.open_message import UseTool
from toolbench.widgets.explorer.traffic_view.traffic import TrafficPane


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
