"""What comes from a server beside its answers: notifications, logs, stderr, every message."""
