"""Analyse a person's code: the statements, the names in them, and the statements a name needs."""
