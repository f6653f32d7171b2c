"""Sweeps: one tool called with many arguments, a row for each call."""
