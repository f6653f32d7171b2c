"""How a request gets to a provider and its answer back: streamed, stoppable, tried again."""
