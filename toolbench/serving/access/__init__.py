"""How clients reach served tools: address, token, configuration, bridge."""
