"""The live transcript of a conversation."""
