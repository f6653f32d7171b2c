"""Views of the contents of resources, and of links to resources."""
