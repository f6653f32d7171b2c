"""A typed, documented function read as a tool."""
