"""The way of clients to served tools: address, token, configuration, bridge."""
