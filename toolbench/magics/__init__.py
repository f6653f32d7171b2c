"""The magics. A magic only parses its line, calls other parts of toolbench, and returns a result."""
