"""The live view of tools served to agents: calls that wait for a person, run or have ended."""
