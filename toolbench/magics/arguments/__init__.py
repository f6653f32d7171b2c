"""The arguments of a call, as they are typed: words, JSON in a line, YAML."""
