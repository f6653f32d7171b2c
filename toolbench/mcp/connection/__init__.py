"""Open, use, lose and reopen the connection to one server."""
