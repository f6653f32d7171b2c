"""Modules that need the MCP SDK; import them only when a server is needed."""
