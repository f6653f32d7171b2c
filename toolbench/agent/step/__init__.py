"""One step: a request to the model, its answer, and the calls of that, each answered once."""
