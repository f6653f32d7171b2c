"""Messages and calls in lines, however many there are, and how they look."""
