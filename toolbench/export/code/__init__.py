"""Read a person's code: its statements, the names they use, and the statements that names need."""
