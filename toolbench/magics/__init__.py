"""The magics: each magic parses a line, calls a plain object, and returns the result."""
