"""Connect MCP servers, list their tools, resources and prompts, and call their tools."""

from threading import Thread

from toolbench.mcp.client import MCPClient, create_mcp_tools
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.session import MCPServerSession
from toolbench.mcp.snapshots.check_calls import check_calls
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.tool import MCPToolAction, MCPToolDefinition, MCPToolExecutor
from toolbench.threads import daemon_thread, have_threads

__all__ = [
    "Change",
    "MCPClient",
    "MCPServerSession",
    "MCPToolAction",
    "MCPToolDefinition",
    "MCPToolExecutor",
    "MCPToolObservation",
    "Snapshot",
    "check_calls",
    "create_mcp_tools",
    "warm",
]


def warm() -> Thread:
    """Load FastMCP in a background thread, because this takes seconds; return the thread."""
    thread = daemon_thread(_load, name="toolbench-warm")
    # Else no server can be connected
    if have_threads():
        thread.start()
    return thread


def _load() -> None:
    from toolbench.mcp.wire import transports  # noqa: F401, PLC0415 - loading it is the point
