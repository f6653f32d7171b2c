"""Find secrets by names, schemas and types, in arguments and in settings."""
