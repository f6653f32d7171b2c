"""Stop a run: by its cancel token, by an interrupt, or by force on its threads and processes."""
