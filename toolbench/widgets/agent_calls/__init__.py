"""What is served to agents, live: each call as it waits, runs and ends."""
