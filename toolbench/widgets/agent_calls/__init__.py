"""The live view of a server of tools: the calls of agents that wait for a person, run or have ended."""
