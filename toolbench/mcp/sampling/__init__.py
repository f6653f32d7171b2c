"""Sampling: show a server's request for a message of a model, and make the answer."""
