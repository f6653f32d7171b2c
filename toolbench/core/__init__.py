"""The tool model: what a tool is, before anything runs or shows it."""
