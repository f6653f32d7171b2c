"""MCP servers to look at: connect them again, call, read, write prompts, follow what they say."""

from toolbench.widgets.explorer.explorer import (
    Explorer,
    client_view,
    open_explorers,
    server_view,
)

__all__ = ["Explorer", "client_view", "open_explorers", "server_view"]
