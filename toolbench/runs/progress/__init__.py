"""The progress of a run, and the line of a cell that shows it."""
