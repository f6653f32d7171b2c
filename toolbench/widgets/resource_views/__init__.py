"""Views of what resources of servers hold, and of links to them."""
