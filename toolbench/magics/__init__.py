"""The magics. A magic parses its line, calls other parts of toolbench, and returns a result."""
