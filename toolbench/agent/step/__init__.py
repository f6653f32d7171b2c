"""One step: a request to the model, its answer, and the calls in it, each answered once."""
