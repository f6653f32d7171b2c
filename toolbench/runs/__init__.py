"""Runs of tools: their threads, progress, questions, output, ends and records."""
