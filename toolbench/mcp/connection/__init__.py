"""One connection to one server: opened, asked, lost, opened again."""
