"""The base classes of `ToolDefinition`: hints, exported schemas, saving as JSON, ways to call it."""
