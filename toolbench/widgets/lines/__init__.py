"""Lists of messages and calls with a line for each, also very long ones, and their styles."""
