"""The parts that stand on the MCP SDK: import them only once a server is wanted."""
