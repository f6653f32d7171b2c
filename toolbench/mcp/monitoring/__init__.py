"""Handle and keep a server's notifications, logs, stderr and messages."""
