"""Long lists with one line for each message or call, and their styles."""
