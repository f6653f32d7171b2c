"""The messages between toolbench and a server: a line for each message, and the open message."""
