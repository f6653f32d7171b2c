"""Write a server's tools as a typed Python module."""
