"""The messages between us and a server: their lines, and the one that is open."""
