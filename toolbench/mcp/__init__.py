"""Connect MCP servers, list their tools, resources and prompts, and call their tools."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient as MCPClient
    from toolbench.mcp.client import create_mcp_tools as create_mcp_tools
    from toolbench.mcp.client import warm as warm
    from toolbench.mcp.results import MCPToolObservation as MCPToolObservation
    from toolbench.mcp.server_session import MCPServerSession as MCPServerSession
    from toolbench.mcp.servers import session as session
    from toolbench.mcp.snapshots.check_calls import check_calls as check_calls
    from toolbench.mcp.snapshots.diff import Change as Change
    from toolbench.mcp.snapshots.snapshot import Snapshot as Snapshot
    from toolbench.mcp.tool import MCPToolAction as MCPToolAction
    from toolbench.mcp.tool import MCPToolDefinition as MCPToolDefinition
    from toolbench.mcp.tool import MCPToolExecutor as MCPToolExecutor
    from toolbench.mcp.tool_groups import ToolGroup as ToolGroup

__getattr__, __dir__, __all__ = public_names(__name__)
