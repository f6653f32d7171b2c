"""A server's apps: their pages, and the bridge through which an app calls the server's tools."""
