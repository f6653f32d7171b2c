"""Make tools from typed, documented functions."""
