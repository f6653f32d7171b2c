"""Follow, list and cancel the tool calls that a server runs as tasks."""
