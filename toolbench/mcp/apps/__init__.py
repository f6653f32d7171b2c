"""Apps of a server: their pages, and the bridge by which they call its tools."""
