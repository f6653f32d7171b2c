"""Check values against a schema, and describe their problems in words."""
