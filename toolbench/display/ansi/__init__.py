"""Show terminal output as HTML: escape sequences, styles, readable colours."""
