"""Code that a person wrote, read: its statements, the names they use, and what those names need."""
