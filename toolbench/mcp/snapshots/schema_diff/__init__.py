"""Compare two JSON Schemas: start with `comparison.compare`."""
