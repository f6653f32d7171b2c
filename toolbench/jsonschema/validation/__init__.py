"""Values checked against a schema, and what is wrong with them in words."""
