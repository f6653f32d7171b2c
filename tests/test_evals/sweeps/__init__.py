"""Sweeps: their columns, files, progress and secrets."""
