"""Sweeps: call one tool with many sets of arguments, with a row for each call."""
