"""The events of a conversation: their order, the file they are saved in, and forks of them."""
