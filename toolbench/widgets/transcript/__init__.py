"""The transcript of a conversation while it goes on."""
