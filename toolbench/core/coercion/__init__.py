"""Turn the value that an executor returned into an observation."""
