"""The server of a tool that is open somewhere else than in an explorer."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.mcp.executor import MCPToolExecutor
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.server_details import ServerDetails
from toolbench.widgets.explorer.traffic_view.open_message import UseTool
from toolbench.widgets.explorer.updates import PendingUpdates


class ServerView:
    """The tabs Server, Log and Traffic, which follow what the server does."""

    def __init__(
        self,
        session: MCPServerSession,
        lock: AbstractContextManager[Any],
        use_tool: UseTool,
    ) -> None:
        """Show *session*; everything happens while *lock* is held.

        Args:
            session: The server.
            lock: One its holder can take again.
            use_tool: Opens one of its tools, filled with arguments.
        """
        self._details = details = ServerDetails(session, lock, use_tool)
        self._updates = PendingUpdates(session, partial(_hear, details, lock))
        self.widget = details.widget

    def close(self) -> None:
        """Hear and show no more."""
        self._updates.close()
        self._details.close()


def _hear(
    details: ServerDetails, lock: AbstractContextManager[Any], names: frozenset[str]
) -> None:
    with lock:
        details.hear(names)


def server_view_of(
    tool: ToolDefinition[Any, Any],
    lock: AbstractContextManager[Any],
    use_tool: UseTool,
) -> ServerView | None:
    """Return the view of the server that runs *tool*; None where no session does."""
    executor = tool.executor
    caller = executor.caller if isinstance(executor, MCPToolExecutor) else None
    if not isinstance(caller, MCPServerSession):
        return None
    return ServerView(caller, lock, use_tool)
