"""The connection to one server: how it is opened, used, lost and opened again."""
