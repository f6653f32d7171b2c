"""Sampling: a server asks for a message of a model. Show its request, and make the answer."""
