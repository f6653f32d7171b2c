"""The live view of tools served to agents: each call while it waits, runs and ends."""
