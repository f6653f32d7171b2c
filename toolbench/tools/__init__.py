"""The runtime tools."""
