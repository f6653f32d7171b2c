"""The transcript of a conversation while the conversation runs."""
