"""What differs between two JSON Schemas: `comparison.compare` is where to start."""
