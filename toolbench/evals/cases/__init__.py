"""Cases: each is a prompt with the tool calls that a model should make."""
