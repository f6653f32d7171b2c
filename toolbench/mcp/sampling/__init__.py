"""Messages that a server wants from a model: the request as a person reads it, and the answer."""
