"""Find, read and write configurations of MCP servers, and fill in their variables."""
