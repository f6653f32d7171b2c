"""The messages between us and a server: a line for each, and the open message."""
