"""Editors of what is typed as text: words, numbers, dates, files, secrets, JSON."""
