"""How MCP clients reach served tools: URL, token, configurations and `toolbench connect`."""
