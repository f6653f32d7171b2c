"""The live view of tools served to agents: each call that waits, runs or has ended."""
