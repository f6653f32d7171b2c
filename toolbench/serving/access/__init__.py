"""How clients get to what is served: address, token, configuration, bridge."""
