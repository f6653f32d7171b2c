"""Lists of messages and calls, a line for each, also very long lists; and their styles."""
