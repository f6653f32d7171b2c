"""One run of one tool: its thread, progress, questions, output, end, and its record."""
