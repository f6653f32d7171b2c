"""Show terminal output on a page: escape sequences, styles, readable colours."""
