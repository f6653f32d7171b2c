"""Keep a server's notifications, logs, stderr and messages."""
