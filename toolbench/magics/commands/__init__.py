"""Sub-commands of %mcp that are more than a line."""
