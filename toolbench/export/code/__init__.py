"""Analyse a user's code: its statements, their names, and which statements a name needs."""
