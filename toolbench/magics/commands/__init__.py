"""The longer sub-commands of %mcp."""
