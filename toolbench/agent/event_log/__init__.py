"""The events of a conversation: the log, the file that saves them, and forks of conversations."""
