"""The magics: each parses a line, calls a plain object, and returns its result."""
