"""Tool calls that a server runs as tasks: followed to their end, listed and cancelled."""
