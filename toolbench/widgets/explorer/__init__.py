"""The explorer of MCP servers: reconnect them, call tools, read resources, watch messages."""

from toolbench.widgets.explorer.explorer import (
    Explorer,
    client_view,
    open_explorers,
    server_view,
)

__all__ = ["Explorer", "client_view", "open_explorers", "server_view"]
