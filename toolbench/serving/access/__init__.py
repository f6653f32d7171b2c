"""How MCP clients reach the served tools: the URL, the token, configurations, `toolbench connect`."""
