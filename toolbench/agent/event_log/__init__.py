"""The events of a conversation: their log, the file, and forks of conversations."""
