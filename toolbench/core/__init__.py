"""The model of a tool: its classes and schemas, without running or showing it."""
