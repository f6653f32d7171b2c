"""Read the arguments of a call as a person types them: words, JSON, YAML, Python."""
