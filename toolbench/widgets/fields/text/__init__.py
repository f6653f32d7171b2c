"""Editors of values typed as text: words, numbers, dates, files, secrets, JSON."""
