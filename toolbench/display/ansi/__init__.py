"""What programs write to a terminal, on a page: escape sequences, styles, readable colours."""
