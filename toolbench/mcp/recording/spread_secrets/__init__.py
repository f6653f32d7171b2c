"""Secrets that a server spreads over several texts, kept out of a recording."""
