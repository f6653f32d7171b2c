"""Find secrets by their names, schemas and types, in arguments of tools and in settings of servers."""
