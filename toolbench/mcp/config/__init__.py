"""Servers as configurations name them: read, found on this machine, filled with values."""
