"""Where secrets stand: found by names, by schemas and by types, in arguments and in settings."""
