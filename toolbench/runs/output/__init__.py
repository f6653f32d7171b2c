"""Capture what a run prints, displays and raises, and hide its secrets."""
