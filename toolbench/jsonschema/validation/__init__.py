"""Check values against a JSON Schema, and describe in words what is wrong with them."""
