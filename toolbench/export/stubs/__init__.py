"""A server's tools as a typed Python module."""
