"""Complete names of tools, arguments, values and servers when Tab is pressed."""
