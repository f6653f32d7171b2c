"""One step: a request to the model, the model's answer, and its calls, each answered once."""
