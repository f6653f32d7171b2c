"""Analyse a user's code: the statements, the names in them, and the statements a name needs."""
